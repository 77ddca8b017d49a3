import Glibc
import Synchronization

/// The calls to the file system by which a run keeps its results. Each call is a stop point: a test can have the
/// process killed at each of them in turn, and look at what is left.
package enum FileCall {
  /// With this variable in the environment, the process kills itself at the stop point with that number, counted from
  /// one.
  static let stopVariable = "OPBENCH_STOP_AT"

  private static let stopAt = getenv(stopVariable).flatMap { Int(String(cString: $0)) }
  private static let reached = Atomic(0)

  /// Ignores the signals of failed writes. A full disk, a file size limit or a pipe without a reader is then an error
  /// of the write, reported in one line.
  package static func ignoreSignals() {
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
  }

  static func open(_ name: String, _ flags: Int32) -> Int32 {
    stopIfTold()
    return Glibc.open(name, flags | O_CLOEXEC, 0o644)
  }

  /// Has two stop points: before the call, and when half of the bytes are written.
  package static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    stopIfTold()
    stopIfTold { _ = Glibc.write(descriptor, bytes, count / 2) }
    return Glibc.write(descriptor, bytes, count)
  }

  package static func truncate(_ descriptor: Int32) -> Int32 {
    stopIfTold()
    return ftruncate(descriptor, 0)
  }

  package static func sync(_ descriptor: Int32) -> Int32 {
    stopIfTold()
    return fsync(descriptor)
  }

  package static func rename(_ name: String, to other: String) -> Int32 {
    stopIfTold()
    return Glibc.rename(name, other)
  }

  package static func unlink(_ name: String) {
    stopIfTold()
    Glibc.unlink(name)
  }

  /// Counts a stop point. At the stop point whose number the variable names, the process is killed and cleans up
  /// nothing.
  private static func stopIfTold(after action: () -> Void = {}) {
    guard let stopAt, reached.add(1, ordering: .relaxed).newValue == stopAt else { return }
    action()
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
}
