/// What happened in a round, as plain values; stamps order it, 0 stands for "never".
struct RoundHistory: Sendable {
  struct OperationEntry: Sendable {
    var id: Int
    var kind: OperationKind
    var queue: Int?
    var dependencies: [Int] = []
    var addStart = 0
    var addEnd = 0
    var begins = 0
    var begin = 0
    var end = 0
    /// False for never, and for operations that nobody can look at.
    var wasFinished = false
    var wasCancelled = false
    var cancelStart = 0
    var pendingAfterCancel = 0
    var runningAtBegin = 0
    var expectsCompletion = false
    var completions = 0
    var completion = 0
    var isObserved = false
    /// How often an observer was told that it finished.
    var observations = 0
  }

  struct Barrier: Sendable {
    var queue: Int
    var addStart = 0
    var addEnd = 0
    var begins = 0
    var begin = 0
    var end = 0
  }

  /// A call on a queue: it took effect at some instant between its start and its return.
  struct Call: Sendable {
    var queue: Int
    var start: Int
    var end: Int
  }

  struct LimitChange: Sendable {
    var call: Call
    /// `Int.max` for none.
    var limit: Int
  }

  struct Suspension: Sendable {
    var queue: Int
    /// After the setter returned.
    var from: Int
    /// Before the queue was resumed.
    var until: Int
    /// Operations seen neither executing nor finished after `from`.
    var pending: [Int]
  }

  /// In the order of their ids, which count from 0.
  var operations: [OperationEntry] = []
  var barriers: [Barrier] = []
  /// For each queue in the order of the calls.
  var limitChanges: [LimitChange] = []
  var suspensions: [Suspension] = []
  var cancelAlls: [Call] = []
}

extension RoundHistory.OperationEntry: CustomStringConvertible {
  var description: String { "operation \(id) (\(kind.rawValue))" }
  var ran: Bool { begins > 0 }
}
