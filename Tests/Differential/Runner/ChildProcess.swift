import Glibc

/// This program once more, as a process of its own: a trap in it is a failure like any other.
enum ChildProcess {
  enum End: Equatable {
    case exited(Int32)
    case crashed(signal: Int32)
  }

  /// - Parameter isQuiet: what it prints is thrown away.
  static func run(_ arguments: [String], isQuiet: Bool) -> End {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if isQuiet {
      for descriptor in 1...2 as ClosedRange<Int32> {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
      }
    }
    // A backtrace of each crash would take longer than the crash.
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    // glibc overwrites freed memory with this byte, so that whoever still reads the memory crashes sooner.
    setenv("MALLOC_PERTURB_", "165", 0)
    var words = (["DifferentialRunner"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ) == 0 else { return .exited(71) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .crashed(signal: signal)
  }

  /// A name for a file of this process.
  static func temporaryPath(_ name: String) -> String { "/tmp/differential-\(getpid())-\(name)" }

  static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else { return }
    fputs(text, file)
    fclose(file)
  }
}
