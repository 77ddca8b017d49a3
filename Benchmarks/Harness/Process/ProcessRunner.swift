import Glibc

/// Starts a process in a group of its own, reads both its outputs to the end, and kills the process when it takes too
/// long or the run is interrupted.
package enum ProcessRunner {
  /// Starts `program measure` for a request. A crash then takes no time for a backtrace.
  package static func measure(
    _ request: MeasureRequest, program: String = thisProgram, environment: [String: String], timeout seconds: Double
  ) -> ProcessOutcome {
    run(
      program, ["measure", (try? request.encoded()) ?? ""], environment: environment.merging(withoutBacktrace) { $1 },
      timeout: seconds)
  }

  package static let thisProgram = "/proc/self/exe"
  package static let withoutBacktrace = ["SWIFT_BACKTRACE": "enable=no"]

  /// `executable` is looked up on the path, unless `executable` names a file. `environment` is added to this process's
  /// own.
  package static func run(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], timeout seconds: Double
  ) -> ProcessOutcome {
    capture(executable, arguments, environment: environment, timeout: seconds).outcome
  }

  /// As `run`, with all that the process wrote to its standard output, byte for byte.
  static func capture(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], timeout seconds: Double
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    let start = Clock.now()
    let output = Pipe()
    let errors = Pipe()
    defer {
      output.close()
      errors.close()
    }
    var identifier: pid_t = 0
    let status = spawn(executable, arguments, environment, output: output, errors: errors, &identifier)
    guard status == 0 else {
      return (ProcessOutcome(ending: .notStarted(status), lines: [], lastWords: nil, nanoseconds: 0), [])
    }
    output.closeWriting()
    errors.closeWriting()
    let stopped = read(output, errors, from: identifier, until: start + UInt64(seconds * 1e9))
    var wait: Int32 = 0
    var usage = rusage()
    while wait4(identifier, &wait, 0, &usage) == -1 && errno == EINTR {}
    let outcome = ProcessOutcome(
      ending: stopped ?? ending(wait), lines: output.lines,
      lastWords: errors.lines.last { $0.contains { !$0.isWhitespace } }, nanoseconds: Clock.now() - start,
      cpuSeconds: inSeconds(usage.ru_utime) + inSeconds(usage.ru_stime))
    return (outcome, output.bytes)
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], _ environment: [String: String], output: Pipe, errors: Pipe,
    _ identifier: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
    posix_spawn_file_actions_adddup2(&actions, errors.writing, 2)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for number in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    // A group of its own, so that a Ctrl-C at the terminal reaches this process alone, and this process decides.
    posix_spawnattr_setpgroup(&attributes, 0)
    // The calling thread may block signals, and the child must not inherit the block.
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var merged = currentEnvironment()
    merged.merge(environment) { $1 }
    let pairs = merged.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return withCStrings([executable] + arguments) { arguments in
      withCStrings(pairs) { posix_spawnp(&identifier, executable, &actions, &attributes, arguments, $0) }
    }
  }

  /// Reads until both pipes are closed; gives the reason when the process was killed.
  private static func read(_ output: Pipe, _ errors: Pipe, from process: pid_t, until deadline: UInt64) -> Ending? {
    var stopped: Ending?
    while output.isOpen || errors.isOpen {
      if stopped == nil {
        if Interrupt.isRequested { stopped = .interrupted } else if Clock.now() >= deadline { stopped = .timedOut }
        if stopped != nil { kill(-process, SIGKILL) }
      }
      var descriptors = [output, errors].filter(\.isOpen).map {
        pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0)
      }
      let remaining = deadline > Clock.now() ? Int32(min(1_000, (deadline - Clock.now()) / 1_000_000 + 1)) : 100
      guard poll(&descriptors, nfds_t(descriptors.count), remaining) > 0 else { continue }
      for descriptor in descriptors where descriptor.revents != 0 {
        (descriptor.fd == output.reading ? output : errors).readAvailable()
      }
    }
    return stopped
  }

  private static func inSeconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  private static func ending(_ status: Int32) -> Ending {
    let number = status & 0x7f
    return number == 0 ? .exited((status >> 8) & 0xff) : .signalled(number)
  }

  private static func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text)
      if let equals = pair.firstIndex(of: "=") {
        result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
      }
      entry += 1
    }
    return result
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
  }
}
