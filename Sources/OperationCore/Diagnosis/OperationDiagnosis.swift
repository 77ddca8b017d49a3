import Primitives

/// Why an operation has not started, at some instant.
public struct OperationDiagnosis: Sendable, CustomStringConvertible {
  /// One thing that stands between an operation and its start, or the fact that nothing does.
  public enum Reason: Sendable, Equatable {
    /// No queue has the operation; it starts when `start()` is called.
    case notInAQueue
    /// The operation has started. `since`: for how long, in nanoseconds, where the time is known: in queues with a
    /// limit, and for every `AsynchronousOperation`.
    case executing(since: UInt64?)
    /// The operation goes on after `start()` has returned, until somebody says that it has finished.
    case goesOn(until: End)
    /// The operation's asynchronous body waits for operations that have not finished, or a group for its members; each
    /// with its state.
    case awaits([Dependency])
    /// The operation's asynchronous body is this task, by the runtime's number: ``TaskDiagnosis`` has the same.
    case isTask(UInt64)
    /// The operation runs a graph: how many nodes have begun, and which ones run, a line for each.
    case runs([String])
    /// The operation has finished, so nothing holds it back any more.
    case finished
    /// The operation's queue is suspended.
    case suspended
    /// The operation waits for operations that have not finished; each with its state.
    case dependencies([Dependency])
    /// The operation waits for itself, through others: the members of the cycle, in no particular order.
    case cycle([String])
    /// A barrier before the operation has not finished.
    case behindBarrier(String)
    /// The operation is a barrier, and waits for the operations before it: how many, and the first few.
    case barrierWaitsFor(count: Int, first: [String])
    /// The operation's class overrides `isReady`, and `isReady` returned false when it was last asked.
    case heldBackByIsReady
    /// The operation's queue runs as many operations as it may; `holders` are the operations that hold the places.
    case limitReached(limit: Int, holders: [Holder])
    /// The operation's queue runs as many operations below this priority as `OperationQueue.limits` allows; `holders`
    /// are the operations that hold the places.
    case limitBelowReached(priority: Operation.QueuePriority, limit: Int, holders: [Holder])
    /// The operation is ready, and waits for a thread of its backend; `backend` says what that backend's threads do.
    case waitsForThread(backend: String)
  }

  /// An operation that another one waits for.
  public struct Dependency: Sendable, Equatable {
    /// Class, address and name of the operation that has not finished.
    public let operation: String
    /// "executing", "waits for dependencies in <queue>", "in no queue, and not started", …
    public let state: String
  }

  /// An operation that holds a place in a queue with a limit.
  public struct Holder: Sendable, Equatable {
    /// Class, address and name of the operation that holds the place.
    public let operation: String
    /// For how long the operation has been executing, in nanoseconds; nil where nobody noted the start.
    public let since: UInt64?
    /// What ends the operation, for an operation that goes on after `start()` has returned.
    public let end: End?
    /// Class, address and name of what the operation's asynchronous body awaits, or of the members of a group.
    public let awaits: [String]
    /// The number of the task that runs the operation's asynchronous body.
    public let task: UInt64?

    /// What follows the operation's name in a list.
    var details: String {
      let named = awaits.prefix(DiagnosisLimits.named).joined(separator: ", ")
      let rest = awaits.count > DiagnosisLimits.named ? " and \(awaits.count - DiagnosisLimits.named) more" : ""
      let parts = [
        since.map { " for \(milliseconds($0))" }, task.map { " as task \($0)" }, end.map { "; ends when \($0)" },
        awaits.isEmpty ? nil : ", which awaits \(named)\(rest)",
      ]
      return parts.compactMap(\.self).joined()
    }
  }

  /// What ends an operation that goes on after `start()` has returned.
  public enum End: String, Sendable, CustomStringConvertible {
    /// An `AsynchronousOperation`.
    case finishIsCalled = "finish() is called"
    /// A subclass with an `isFinished` of its own.
    case isFinishedIsPosted = "its class posts isFinished"
    /// A `TaskOperation`.
    case bodyReturns = "its body returns"

    public var description: String { rawValue }
  }

  /// Class, address and name of the operation.
  public let operation: String
  /// The operation's queue, if it is in one.
  public let queue: String?
  /// What stands between the operation and its start.
  public let reasons: [Reason]

  /// One line for the operation, then one for each reason.
  public var description: String {
    let place = queue.map { " in \($0)" } ?? ""
    return (["\(operation)\(place)"] + reasons.flatMap { $0.lines.map { "  " + $0 } }).joined(separator: "\n")
  }
}

extension OperationDiagnosis.Reason: CustomStringConvertible {
  public var description: String { lines.joined(separator: "\n") }

  fileprivate var lines: [String] {
    switch self {
    case .notInAQueue: ["is in no queue: it starts when it is added to one, or by start()"]
    case .executing(let since): ["is executing" + (since.map { ", for \(milliseconds($0))" } ?? "")]
    case .goesOn(let end): ["ends when \(end)"]
    case .isTask(let number): ["its body is task \(number)"]
    case .awaits(let all):
      ["its body awaits \(counted(all.count, "unfinished operation")):"] + lines(all)
    case .runs(let lines): lines
    case .finished: ["has finished"]
    case .suspended: ["its queue is suspended"]
    case .dependencies(let all):
      ["waits for \(all.count) unfinished \(all.count == 1 ? "dependency" : "dependencies"):"] + lines(all)
    case .cycle(let members):
      [
        "waits for itself, in a cycle of \(members.count): "
          + members.prefix(DiagnosisLimits.named).joined(separator: ", ")
      ]
    case .behindBarrier(let barrier): ["is behind the barrier \(barrier)"]
    case .barrierWaitsFor(let count, let first):
      ["is a barrier, and waits for \(count) before it:"] + first.map { "  " + $0 } + DiagnosisLimits.rest(count)
    case .heldBackByIsReady: ["its own isReady says no, and has not posted a change"]
    case .limitReached(let limit, let holders):
      limit == 0
        ? ["its queue's limit is 0: nothing starts"] : ["its queue's limit is \(limit), and held by:"] + lines(holders)
    case .limitBelowReached(let priority, let limit, let holders):
      limit == 0
        ? ["its queue's limit below \(priority) is 0: nothing of a lower priority starts"]
        : ["its queue's limit below \(priority) is \(limit), and held by:"] + lines(holders)
    case .waitsForThread(let backend): ["is ready, and waits for a thread of its backend:", "  " + backend]
    }
  }

  private func lines(_ dependencies: [OperationDiagnosis.Dependency]) -> [String] {
    dependencies.prefix(DiagnosisLimits.named).map { "  \($0.operation): \($0.state)" }
      + DiagnosisLimits.rest(dependencies.count)
  }

  private func lines(_ holders: [OperationDiagnosis.Holder]) -> [String] {
    holders.prefix(DiagnosisLimits.named).map { "  \($0.operation), executing\($0.details)" }
      + DiagnosisLimits.rest(holders.count)
  }
}
