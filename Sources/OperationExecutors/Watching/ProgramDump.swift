import CPlatform
import Primitives

/// With OPERATIONS_DUMP set (to anything), the program writes to stderr what it waits for when it gets SIGUSR1.
///
/// Without the variable nothing is remembered, and no signal is touched.
package enum ProgramDump {
  /// Touched under `lock`.
  nonisolated(unsafe) private static var sections: [@Sendable () -> [String]] = []
  private static let lock = FutexLock()

  /// Starts the thread that writes, once. False without the variable, or when the system refuses the thread.
  package static let isOn: Bool = {
    guard cplatform_dump_wanted() else { return false }
    return PlatformThread.start(name: "op-dump") {
      while true {
        cplatform_dump_wait()
        for section in lock.withLock({ sections }) { for line in section() { printError(line) } }
        if let obstacle = TaskDiagnosis.obstacle { printError(obstacle) }
        for line in TaskDiagnosis.lines(TaskDiagnosis.all) { printError(line) }
      }
    }
  }()

  /// Writes more, before the tasks. To be called once for each kind.
  package static func add(_ section: @escaping @Sendable () -> [String]) { lock.withLock { sections.append(section) } }
}
