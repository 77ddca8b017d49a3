import CMeasure
import Glibc

/// Starts a process in a group of its own, reads both its outputs, and kills the process when it takes too long, when
/// it prints too much, or when the run is interrupted.
package enum ProcessRunner {
  /// `program measure` for a request. A crash then takes no time for a backtrace.
  package static func launch(
    _ request: MeasureRequest, program: String = thisProgram, environment: [String: String], timeout seconds: Double,
    now: @escaping () -> UInt64 = Clock.now
  ) -> Launched {
    launch(
      program, ["measure", (try? request.encoded()) ?? ""], environment: environment.merging(withoutBacktrace) { $1 },
      timeout: seconds, now: now)
  }

  /// A program that may take turns. `executable` and `environment` are those of `run`.
  package static func launch(
    _ executable: String, _ arguments: [String], environment: [String: String], timeout seconds: Double,
    now: @escaping () -> UInt64 = Clock.now
  ) -> Launched {
    var process: WatchedProcess?
    return Launched {
      if process == nil {
        let made = start(
          executable, arguments, environment: environment, timeout: seconds, takesTurns: true, now: now)
        switch made {
        case .success(let made): process = made
        case .failure(let refusal): return refusal.outcome
        }
      }
      return process?.goOn()?.outcome
    }
  }

  /// As `launch`, and waits for the process.
  package static func measure(
    _ request: MeasureRequest, program: String = thisProgram, environment: [String: String], timeout seconds: Double
  ) -> ProcessOutcome {
    launch(request, program: program, environment: environment, timeout: seconds).toEnd()
  }

  package static let thisProgram = "/proc/self/exe"
  package static let withoutBacktrace = ["SWIFT_BACKTRACE": "enable=no"]

  /// The most bytes that a process may write to its standard output, unless the caller says otherwise: some hundred
  /// times what a measuring process writes.
  package static let outputLimit = 16 << 20
  /// The bytes that are kept of what a process writes to its standard error: the last ones.
  static let errorLimit = 64 << 10

  /// `executable` is looked up on the path, unless `executable` names a file. `environment` is added to this process's
  /// own.
  package static func run(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], timeout seconds: Double
  ) -> ProcessOutcome {
    capture(executable, arguments, environment: environment, timeout: seconds).outcome
  }

  /// As `run`, with all that the process wrote to its standard output, byte for byte.
  /// - Parameters:
  ///   - limit: the most bytes that the process may write to its standard output.
  ///   - watched: whether the kernel is asked to tell the end of the process. Tests do without.
  ///   - now: the clock, in nanoseconds.
  package static func capture(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], timeout seconds: Double,
    limit: Int = outputLimit, watched: Bool = true, now: @escaping () -> UInt64 = Clock.now
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    toEnd(
      start(
        executable, arguments, environment: environment, timeout: seconds, limit: limit, watched: watched, now: now))
  }

  private static func start(
    _ executable: String, _ arguments: [String], environment: [String: String], timeout seconds: Double,
    limit: Int = outputLimit, watched: Bool = true, takesTurns: Bool = false, now: @escaping () -> UInt64 = Clock.now
  ) -> Result<WatchedProcess, Refusal> {
    watch(timeout: seconds, limit: limit, watched: watched, takesTurns: takesTurns, now) { output, errors in
      let began = now()
      var identifier: pid_t = 0
      let status = spawn(executable, arguments, environment, output: output, errors: errors, &identifier)
      return status == 0 ? .success(Started(identifier: identifier, began: began)) : .failure(Refusal(code: status))
    }
  }

  /// Runs a command of the user. Its time begins when the process becomes its program.
  /// - Parameter limit: the most bytes that the command may write to its standard output, when the output is kept.
  package static func run(
    _ command: CommandLaunch, timeout seconds: Double, limit: Int = outputLimit
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    let process = watch(timeout: seconds, limit: limit, watched: true, Clock.now) { output, errors in
      guard let file = file(command.words[0], in: command.folder) else { return .failure(Refusal(code: ENOENT)) }
      let input = open(command.input ?? "/dev/null", O_RDONLY | O_CLOEXEC)
      guard input >= 0 else { return .failure(Refusal(code: errno)) }
      defer { close(input) }
      let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
      defer { close(nowhere) }
      var made = opbench_waiting()
      let pairs = pairs(adding: command.environment)
      let status = withCStrings(command.words) { words in
        withCStrings(pairs) { pairs in
          opbench_make_waiting(
            file, words, pairs, command.folder, input, command.keepsOutput ? output.writing : nowhere, errors.writing,
            &made)
        }
      }
      guard status == 0 else { return .failure(Refusal(code: status)) }
      // The counter counts from the program's first instruction, and all that the program starts.
      let counter = try? PerfEvent.instructions.open(made.process).get()
      let began = Clock.now()
      let refusal = opbench_let_go(&made)
      guard refusal == 0 else {
        _ = Child(made.process, watched: false).collect()
        if let counter { close(counter) }
        return .failure(Refusal(code: refusal))
      }
      return .success(Started(identifier: made.process, began: began, counter: counter))
    }
    return toEnd(process)
  }

  private static func toEnd(
    _ process: Result<WatchedProcess, Refusal>
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    switch process {
    case .success(let process):
      while true { if let end = process.goOn() { return end } }
    case .failure(let refusal): return (refusal.outcome, [])
    }
  }

  /// The least peak of memory that a command can be seen to have, in bytes: what this process hands to the copy that
  /// becomes the command. Nil where no command can be started.
  package static var peakFloor: Double? {
    let outcome = run(CommandLaunch(["true"]), timeout: 10).outcome
    return outcome.ending == .exited(0) ? outcome.usage.peakBytes : nil
  }

  /// The file of a program; nil when there is none. A name with a slash is one of the folder.
  private static func file(_ name: String, in folder: String?) -> String? {
    if name.contains("/") { return name }
    let places = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return places.split(separator: ":").lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// A process that has begun.
  struct Started {
    let identifier: pid_t
    /// When its time began, in nanoseconds.
    let began: UInt64
    /// Counts its instructions.
    var counter: CInt?
  }

  private struct Refusal: Error {
    let code: Int32

    var outcome: ProcessOutcome {
      ProcessOutcome(ending: .notStarted(code), lines: [], lastWords: nil, nanoseconds: 0)
    }
  }

  /// Starts a process with the given ends of pipes.
  private static func watch(
    timeout seconds: Double, limit: Int, watched: Bool, takesTurns: Bool = false, _ now: @escaping () -> UInt64,
    _ start: (_ output: Pipe, _ errors: Pipe) -> Result<Started, Refusal>
  ) -> Result<WatchedProcess, Refusal> {
    guard let output = Pipe(limit: limit, .keepsNothing), let errors = Pipe(limit: errorLimit, .keepsTheEnd) else {
      return .failure(Refusal(code: errno))
    }
    return start(output, errors).map { started in
      output.closeWriting()
      errors.closeWriting()
      return WatchedProcess(
        started, output, errors, limit: limit, seconds: seconds, watched: watched, takesTurns: takesTurns, now)
    }
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

    let pairs = pairs(adding: environment)
    return withCStrings([executable] + arguments) { arguments in
      withCStrings(pairs) { pairs in
        // A program that was just written is busy for a moment more: a child that another thread has forked still has
        // it open for writing, until that child becomes its own program.
        var error = ETXTBSY
        for _ in 0..<100 where error == ETXTBSY {
          error = posix_spawnp(&identifier, executable, &actions, &attributes, arguments, pairs)
          if error == ETXTBSY { usleep(10_000) }
        }
        return error
      }
    }
  }

  /// This process's environment with additions, as a program gets it.
  private static func pairs(adding additions: [String: String]) -> [String] {
    currentEnvironment().merging(additions) { $1 }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
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
