import Laboratory
import MacroArms

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A `pictureserver` in a process of its own. It ends when this one does: its standard input is a pipe that this
/// process holds.
struct ServerProcess: Sendable {
  /// Such as `http://127.0.0.1:8080`.
  let address: String

  /// The program stands beside this one, unless `PICTURESERVER` names it. `MACROBENCH_SERVER` names a server that runs
  /// already: it must have been started with the options of the situation.
  init(for situation: Situation) throws {
    if let running = Self.variable("MACROBENCH_SERVER") {
      address = running.hasPrefix("http://") ? running : "http://\(running)"
      return
    }
    let program = try Self.variable("PICTURESERVER") ?? Self.beside()
    let line = try Self.start(program, Self.options(of: situation))
    let words = "listening on "
    guard line.hasPrefix(words) else { throw CheckFailed("\(program) said '\(line)' and not where it listens") }
    address = "http://\(line.dropFirst(words.count))"
  }

  private static func options(of situation: Situation) -> [String] {
    let (network, files) = (situation.network, situation.files)
    return [
      "--port", "0", "--count", "2000", "--seed", "\(network.seed)", "--latency-ms", "\(network.latencyMilliseconds)",
      "--sigma", "\(network.sigma)", "--bandwidth", "\(network.bytesPerSecond)", "--distinct", "\(files.distinct)",
      "--width", "\(files.width)", "--height", "\(files.height)", "--quality", "\(files.quality)",
    ]
  }

  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  private static func beside() throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard readlink("/proc/self/exe", &path, path.count - 1) > 0 else {
      throw CheckFailed("set PICTURESERVER to the path of the picture server")
    }
    let own = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let program = own.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/pictureserver"
    guard access(program, X_OK) == 0 else {
      throw CheckFailed("there is no \(program): build it, or set PICTURESERVER to its path")
    }
    return program
  }

  /// The environment of this program. The server's own trace would replace that of this program.
  private static func ownEnvironment() -> [UnsafeMutablePointer<CChar>?] {
    var (kept, place): ([UnsafeMutablePointer<CChar>?], Int) = ([], 0)
    while let entry = environ[place] {
      if !String(cString: entry).hasPrefix("OPERATIONS_TRACE=") { kept.append(entry) }
      place += 1
    }
    return kept + [nil]
  }

  /// - Returns: the first line that the program prints.
  private static func start(_ program: String, _ options: [String]) throws -> String {
    var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
    // The server must not hold the other ends, or it would never see the end of its input.
    guard pipe(&input) == 0, pipe(&output) == 0 else {
      throw CheckFailed("no pipe: \(String(cString: strerror(errno)))")
    }
    for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    var arguments = ([program] + options).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    var environment = ownEnvironment()
    let error = posix_spawn(&child, program, &actions, nil, &arguments, &environment)
    close(input[0])
    close(output[1])
    guard error == 0 else { throw CheckFailed("\(program) does not start: \(String(cString: strerror(error)))") }
    defer { close(output[0]) }
    var (line, byte): ([UInt8], UInt8) = ([], 0)
    while read(output[0], &byte, 1) == 1, byte != 0x0a { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }
}
