import Glibc
import TestSupport

/// One run of the executable `ProcessScenarios`, or of another one that is built beside the tests.
struct Scenario {
  /// The signal that ended it, if one did.
  let signal: Int32?
  let exitCode: Int32?
  /// Standard output and error together.
  let output: String

  /// Died by what Swift traps with: SIGILL on x86, SIGTRAP elsewhere, SIGABRT from an abort.
  var trapped: Bool { [SIGILL, SIGTRAP, SIGABRT].contains(signal ?? 0) }

  struct NotFound: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter variables: "NAME=value", added to the environment.
  init(_ name: String, variables: [String] = []) throws {
    try self.init(running: "ProcessScenarios", name, variables: variables)
  }

  init(running executable: String, _ argument: String = "", variables: [String] = []) throws {
    let path = try Self.path(of: executable)
    try self.init(path, arguments: [argument], variables: variables)
  }

  /// Runs a line of the shell.
  init(shell line: String) throws { try self.init("/bin/sh", arguments: ["-c", line], variables: []) }

  private init(_ path: String, arguments: [String], variables: [String]) throws {
    let (process, reader) = try Self.spawning.with { _ in
      try Self.spawn(path, arguments: arguments, variables: variables)
    }
    output = Self.readAll(reader, from: process)
    close(reader)
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1 && errno == EINTR {}
    let low = status & 0x7F
    signal = low == 0 ? nil : low
    exitCode = low == 0 ? (status >> 8) & 0xFF : nil
  }

  // One at a time: a process spawned between `pipe` and `close` would inherit the pipe and keep it open.
  private static let spawning = Monitor(())

  /// Starts the process; returns it and the end of a pipe to read its output from.
  private static func spawn(
    _ path: String, arguments: [String], variables: [String]
  ) throws -> (process: pid_t, reader: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw NotFound(description: "no pipe: error \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The threads that run tests block signals. A process that inherited that would not even notice its own `alarm`.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var process = pid_t()
    let failure = Self.withStrings([path] + arguments) { arguments in
      // No backtrace, unless a test asks for it: it takes seconds and says nothing that the test asks for.
      let usual = ["SWIFT_BACKTRACE=enable=no"].filter { _ in !variables.contains { $0.hasPrefix("SWIFT_BACKTRACE=") } }
      return Self.withStrings(Self.environment() + usual + variables) { environment in
        posix_spawn(&process, path, &actions, &attributes, arguments, environment)
      }
    }
    close(ends[1])
    guard failure == 0 else {
      close(ends[0])
      throw NotFound(description: "cannot run \(path): error \(failure)")
    }
    return (process, ends[0])
  }

  /// The folder of the test executable, and of the modules that it was built from.
  static func buildFolder() throws -> String { folder(of: try path(of: "ProcessScenarios")) }

  /// Next to the test executable: SwiftPM puts both into the directory of the build configuration.
  private static func path(of executable: String) throws -> String {
    var folders: [String] = []
    var buffer = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    if length > 0 { folders.append(folder(of: string(buffer.prefix(length)))) }
    // Where a helper loads the tests, its own path leads elsewhere, but an argument names the test bundle.
    folders += CommandLine.arguments.filter { $0.contains("/") }.map(folder)
    for folder in folders {
      let path = "\(folder)/\(executable)"
      if access(path, X_OK) == 0 { return path }
    }
    throw NotFound(description: "\(executable) is in none of \(folders)")
  }

  private static func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
  }

  private static func string(_ characters: some Sequence<CChar>) -> String {
    String(decoding: characters.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Until everyone has closed the other end; a process that hangs is killed with those it started.
  private static func readAll(_ descriptor: Int32, from process: pid_t) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    let deadline = ContinuousClock.now + .seconds(120)
    var isKilled = false
    while true {
      if !isKilled, ContinuousClock.now >= deadline {
        kill(-process, SIGKILL)
        isKilled = true
        bytes += Array("\nkilled: it did not end within two minutes".utf8)
      }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 1_000) > 0 else { continue }
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 { bytes += buffer.prefix(count) } else if count == 0 || errno != EINTR { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func environment() -> [String] {
    var variables: [String] = []
    var next = environ
    while let entry = next.pointee {
      variables.append(String(cString: entry))
      next += 1
    }
    return variables.filter { !$0.hasPrefix("SWIFT_BACKTRACE=") && !$0.hasPrefix("OPERATIONS_WORKERS=") }
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for operation in copies { free(operation) } }
    return body(copies + [nil])
  }
}
