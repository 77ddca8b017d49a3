import Glibc

/// Starts a process in a group of its own, reads both its outputs, and kills the process when it takes too long, when
/// it prints too much, or when the run is interrupted.
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

  /// The most bytes that a process may write to its standard output, unless the caller says otherwise: some hundred
  /// times what a measuring process writes.
  package static let outputLimit = 16 << 20
  /// The bytes that are kept of what a process writes to its standard error: the last ones.
  static let errorLimit = 64 << 10
  /// How long the outputs of a process are read after the process has ended, in nanoseconds. The outputs end with the
  /// process, unless something that the process has started holds them open.
  static let patience: UInt64 = 500_000_000

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
    limit: Int = outputLimit, watched: Bool = true, now: () -> UInt64 = Clock.now
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    let start = now()
    guard let output = Pipe(limit: limit, .keepsNothing), let errors = Pipe(limit: errorLimit, .keepsTheEnd) else {
      return (ProcessOutcome(ending: .notStarted(errno), lines: [], lastWords: nil, nanoseconds: 0), [])
    }
    var identifier: pid_t = 0
    let status = spawn(executable, arguments, environment, output: output, errors: errors, &identifier)
    guard status == 0 else {
      return (ProcessOutcome(ending: .notStarted(status), lines: [], lastWords: nil, nanoseconds: 0), [])
    }
    output.closeWriting()
    errors.closeWriting()
    let child = Child(identifier, watched: watched)
    let (stopped, stoodStill) = follow(child, output, errors, limit: limit, until: start + UInt64(seconds * 1e9), now)
    let isHeld = output.isOpen || errors.isOpen
    // What is left of the group would disturb what is measured next.
    if isHeld { child.kill() }
    let (ending, cpuSeconds) = child.collect()
    let outcome = ProcessOutcome(
      ending: stopped ?? ending, lines: output.lines, lastWords: errors.lastLine,
      nanoseconds: now() - start - stoodStill, stoodStill: stoodStill, cpuSeconds: cpuSeconds, isOutputHeld: isHeld)
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

  /// Reads until the process has ended and both pipes are closed, or a short time beyond the end of the process. Gives
  /// the reason when the process was killed, and how long this process or the other stood still. A process gets its
  /// whole time though this one stood still; a process that is stopped for ever has its limit.
  private static func follow(
    _ child: Child, _ output: Pipe, _ errors: Pipe, limit: Int, until deadline: UInt64, _ now: () -> UInt64
  ) -> (Ending?, stoodStill: UInt64) {
    var stopped: Ending?
    var lastRead: UInt64?
    var deadline = deadline
    var watch = StandStill(since: now())
    while true {
      let (time, state) = (now(), child.state)
      let gap = watch.look(time, isStopped: state == .isStopped)
      if state != .isStopped { deadline += gap }
      if lastRead == nil, state == .hasEnded { lastRead = time + patience }
      if let lastRead {
        guard output.isOpen || errors.isOpen else { break }
        guard time < lastRead, !Interrupt.isRequested else {
          output.readRest()
          errors.readRest()
          break
        }
      } else if stopped == nil {
        if Interrupt.isRequested {
          stopped = .interrupted
        } else if output.isOverfull {
          stopped = .printedTooMuch(limit)
        } else if time >= deadline {
          stopped = .timedOut
        }
        if stopped != nil { child.kill() }
      }
      let until = lastRead ?? (stopped == nil ? deadline : .max)
      child.wait(reading: [output, errors], for: until > time ? until - time : 0)
    }
    return (stopped ?? (output.isOverfull ? .printedTooMuch(limit) : nil), watch.nanoseconds)
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
