import OperationJobs
import Primitives

/// How many operations of low priority may run at a time in a queue.
///
/// ```swift
/// import Operations
///
/// let queue = OperationQueue()
/// queue.maxConcurrentOperationCount = 6
/// queue.limits[below: .normal] = 3
/// ```
/// Here six operations run at a time, and at most three of them have a priority below `normal`. So three places are
/// left for urgent work, however much other work waits.
///
/// The priority that counts is the one in force: the operation's `queuePriority`, or what its quality of service, or
/// its queue's, stands for. The priority counts as it is now, also while the operation runs. An operation that was
/// raised while it waited below a limit keeps its memory after its finish, until the queue has a place below that limit
/// again.
public struct PriorityLimits: Sendable, Hashable {
  private var veryLow: Int?
  private var low: Int?
  private var normal: Int?
  private var high: Int?
  private var veryHigh: Int?

  /// No limits.
  public init() {}

  /// At most this many operations with a priority below `priority` run at a time; nil for no such limit. 0 starts none
  /// of them. The limits hold together, and beside `maxConcurrentOperationCount`.
  ///
  /// A queue that gets the limits traps when a number is negative, or when there is a limit below `veryLow`, since no
  /// priority is below.
  public subscript(below priority: Operation.QueuePriority) -> Int? {
    get {
      switch priority {
      case .veryLow: veryLow
      case .low: low
      case .normal: normal
      case .high: high
      case .veryHigh: veryHigh
      }
    }
    set {
      switch priority {
      case .veryLow: veryLow = newValue
      case .low: low = newValue
      case .normal: normal = newValue
      case .high: high = newValue
      case .veryHigh: veryHigh = newValue
      }
    }
  }

  /// Whether there is no limit.
  public var isEmpty: Bool { self == PriorityLimits() }
}

extension PriorityLimits {
  /// Traps when a limit makes no sense.
  func check(for queue: OperationQueue) {
    if veryLow != nil { misuse(queue, "limits[below: .veryLow] limits nothing: no priority is below veryLow") }
    for priority in Operation.QueuePriority.allCases {
      if let limit = self[below: priority], limit < 0 {
        misuse(queue, "limits[below: .\(priority)] cannot be \(limit): it is nil (no limit), 0, or more")
      }
    }
  }

  /// The most operations below each level; `Int.max` for no limit.
  var byLevel: Job.PerLevel<Int> {
    Job.PerLevel { self[below: Operation.QueuePriority(level: $0)] ?? .max }
  }

  /// The limits that an operation of `level` is subject to.
  func above(_ level: Int) -> [(priority: Operation.QueuePriority, limit: Int)] {
    Operation.QueuePriority.allCases.compactMap { priority in
      priority.level > level ? self[below: priority].map { (priority, $0) } : nil
    }
  }
}
