import Operations
import Synchronization

/// How an operation is written, and who starts it.
enum OperationKind: String, CaseIterable, Sendable {
  /// Overrides `main`.
  case plain
  /// A `BlockOperation` of one to four blocks.
  case block
  /// An `AsynchronousOperation` that another thread finishes.
  case asynchronous
  /// Foundation's pattern: overrides `start` and the state properties, and posts their changes.
  case handWritten
  /// Overrides `isReady`.
  case readyGated
  /// `addOperation { }`, or `addOperation(dependencies:) { }`: nobody has a handle.
  case closure
  /// `addTask { }`: an asynchronous body, and nobody has a handle.
  case task
  /// Added by an operation's body, which waits for it.
  case child
  /// Started by hand, in no queue.
  case manual
  /// In no queue and never started: a dependency that is removed again.
  case phantom
}

/// What happened to one operation: written while it runs, read when the round is over.
///
/// Invariant behind `@unchecked Sendable`: `dependencies` and `token` are fixed before the operation is added, and the
/// token is let go when the round is over; `message` is plain memory on purpose: the operation's body writes it, bodies
/// of operations that depend on it read it, and only the library orders the two. Everything else is atomic, relaxed.
final class OperationRecord: @unchecked Sendable {
  let id: Int
  let kind: OperationKind
  /// Index of the queue; nil for none.
  let queue: Int?
  /// Records it waits for, late ones included, removed ones not.
  var dependencies: [Int] = []
  var expectsCompletion = false
  var message = 0
  /// Of an observer of `isFinished`.
  var token: OperationObservation?
  let observations = Atomic<Int>(0)

  // Stamps; 0 for never.
  let addStart = Atomic<Int>(0)
  let addEnd = Atomic<Int>(0)
  let begin = Atomic<Int>(0)
  let end = Atomic<Int>(0)
  let completion = Atomic<Int>(0)
  /// Before the first `cancel()` on it.
  let cancelStart = Atomic<Int>(0)
  /// When somebody saw it neither executing nor finished after `cancel` or `cancelAllOperations` had returned.
  let pendingAfterCancel = Atomic<Int>(0)

  let begins = Atomic<Int>(0)
  let completions = Atomic<Int>(0)
  /// Operations of its queue that were between begin and end when it began, itself included.
  let runningAtBegin = Atomic<Int>(0)
  /// Written when the operation is deallocated.
  let releases = Atomic<Int>(0)
  let wasFinished = Atomic<Bool>(false)
  let wasCancelled = Atomic<Bool>(false)

  init(id: Int, kind: OperationKind, queue: Int?) {
    (self.id, self.kind, self.queue) = (id, kind, queue)
  }

  /// The message of an operation whose body has run.
  var expectedMessage: Int { id &* 31 &+ 7 }

  var hasBegun: Bool { begins.load(ordering: .relaxed) > 0 }

  func cancels(at stamp: Int) {
    _ = cancelStart.compareExchange(expected: 0, desired: stamp, ordering: .relaxed)
  }

  func noteAdding(_ clock: StampClock, _ add: () -> Void) {
    addStart.store(clock.next(), ordering: .relaxed)
    add()
    addEnd.store(clock.next(), ordering: .relaxed)
  }
}

extension OperationRecord: CustomStringConvertible {
  var description: String { "operation \(id) (\(kind.rawValue))" }
}
