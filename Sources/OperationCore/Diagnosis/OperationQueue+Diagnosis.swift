import CPlatform
import OperationExecutors
import OperationJobs
import Primitives

/// What keeps a queue from going on, at some instant.
public struct QueueDiagnosis: Sendable, CustomStringConvertible {
  /// Class, address and name of the queue.
  public let queue: String
  /// Unfinished operations.
  public let pendingCount: Int
  /// Operations that are executing, and for how long, where the time is known.
  public let executing: [OperationDiagnosis.Holder]
  /// For the first operations that have not started, the reasons; at most 16 operations.
  public let waiting: [OperationDiagnosis]
  /// Operations that wait for one another in a cycle, by description: one array per cycle.
  public let cycles: [[String]]
  /// What the backend's threads do.
  public let backend: String
  /// Overridden properties of operations, of any queue, that the library reads and that have not returned for a
  /// millisecond or longer. Such a property waits for something, or computes.
  public let unansweredQuestions: Int
  /// The tasks of the process, as ``TaskDiagnosis/all`` has them: none without OPERATIONS_DUMP in the environment.
  public let tasks: [TaskDiagnosis]

  /// Several lines for people.
  public var description: String {
    var lines = ["\(queue): \(pendingCount) unfinished, \(executing.count) executing"]
    lines += executing.prefix(DiagnosisLimits.named).map { "  \($0.operation), executing\($0.details)" }
    lines += DiagnosisLimits.rest(executing.count)
    for cycle in cycles { lines.append("  cycle: " + cycle.joined(separator: ", ")) }
    for diagnosis in waiting { lines += diagnosis.description.split(separator: "\n").map { "  \($0)" } }
    let left = pendingCount - executing.count - waiting.count
    if left > 0 { lines.append("  and \(left) more that have not started") }
    if unansweredQuestions > 0 {
      lines.append("  reads of overridden properties that have not returned, in any queue: \(unansweredQuestions)")
    }
    lines.append("  backend: \(backend)")
    lines += TaskDiagnosis.lines(tasks).flatMap { $0.split(separator: "\n").map { "  \($0)" } }
    return lines.joined(separator: "\n")
  }
}

extension OperationQueue {
  /// Why nothing, or not everything, of the queue runs. The diagnosis says what executes and for how long, what
  /// keeps each of the first operations from starting, the cycles, and what the backend's threads do: compute, wait
  /// inside the library, or block, and in which call of the kernel's. With OPERATIONS_DUMP in the environment it also
  /// lists tasks, as ``TaskDiagnosis/all`` does.
  ///
  /// A snapshot, for people and logs. May be called on any thread, never blocks for long, runs no code of yours.
  /// O(pending operations).
  public final func diagnosis() -> QueueDiagnosis { diagnosis(withTasks: true) }

  final func diagnosis(withTasks: Bool) -> QueueDiagnosis {
    let pending = snapshot()
    // Each operation is looked at once, because the queue goes on meanwhile.
    var executing: [Operation] = []
    var waiting: [Operation] = []
    for operation in pending {
      let now = operation.stateNow
      if now.isExecuting {
        executing.append(operation)
      } else if !now.has(StateWord.started), waiting.count < Self.explained {
        waiting.append(operation)
      }
    }
    return QueueDiagnosis(
      queue: label, pendingCount: registry.pendingCount,
      executing: executing.map(\.asHolder),
      waiting: waiting.map { $0.whyNotStarted() },
      cycles: DependencyGraph.cycles(from: pending).map { $0.map(\.label) }, backend: backendSummary,
      unansweredQuestions: Examiner.unanswered, tasks: withTasks ? TaskDiagnosis.all : [])
  }

  /// How many operations a diagnosis explains.
  private static var explained: Int { 16 }

  /// Class, address and name. Not the open `name`: an override may take locks of a user's.
  final var label: String {
    let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    let name = lock.withLock { extras.name }.map { " \"\($0)\"" } ?? ""
    return "<\(type(of: self)) 0x\(address)\(name)>"
  }

  /// What the backend's threads do, in one line or a few.
  final var backendSummary: String {
    guard let supervised = supervisedBackend else { return "\(backendName), which tells nothing of its threads" }
    return supervised.threadsInWords
  }
}

extension OperationQueue: CustomDebugStringConvertible {}
