import Operations
import Synchronization

/// Something that happened to an operation.
public struct OperationEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    /// The operation is about to be added to the queue.
    case added
    /// `isExecuting` has become true.
    case started
    /// `isCancelled` has become true.
    case cancelled
    /// `isFinished` has become true.
    case finished
  }

  /// What happened.
  public let kind: Kind
  /// The operation to which it happened.
  public let operation: Operation
  /// The queue that tells of it.
  public let queue: OperationQueue
  /// Whether the operation has been cancelled. An observer reads this in the place of the operation's own property: a subclass may
  /// post a change while it holds a lock that the property takes.
  public let isCancelled: Bool
  /// When it happened.
  public let instant: ContinuousClock.Instant
  /// From the adding to the start, or to the end of an operation that never started; nil before.
  public let waited: Duration?
  /// From the start to the end; nil before the end, and for an operation that never started.
  public let ran: Duration?
}

/// Is told what happens to the operations of a queue: for logs, metrics and spans.
///
/// The events of one operation come one after the other, in their order. They come on the threads that make the changes, and
/// outside of all locks of the library. So an observer must be quick, and must not block.
public protocol OperationObserver: Sendable {
  /// Called once for each event.
  func received(_ event: OperationEvent)
}

/// A queue that tells observers of its operations.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// struct Log: OperationObserver {
///   func received(_ event: OperationEvent) {
///     if event.kind == .finished { print(event.operation.name ?? "an operation", event.ran ?? .zero) }
///   }
/// }
///
/// func logged() async {
///   let queue = ObservedOperationQueue(observers: [Log()])
///   queue.addTask(name: "load") {}
///   await queue.drained()
/// }
/// ```
///
/// Each operation costs about a microsecond more than on a plain queue. Barriers are not told of.
open class ObservedOperationQueue: OperationQueue, @unchecked Sendable {
  // Sendable: the observers never change, and the operations that are followed lie in a lock.

  private let observers: [any OperationObserver]
  /// What is known of each unfinished operation.
  private let followed = Mutex<[ObjectIdentifier: Followed]>([:])

  private struct Followed: Sendable {
    let added: ContinuousClock.Instant
    var started: ContinuousClock.Instant?
    var isCancelled: Bool
    /// The observations end with them.
    var tokens: [OperationObservation] = []
  }

  /// - Parameters:
  ///   - backend: what runs the operations; nil for the default one.
  ///   - observers: are told in this order.
  public init(on backend: (any Backend)? = nil, observers: [any OperationObserver]) {
    self.observers = observers
    super.init(on: backend ?? OperationQueue().backend)
  }

  open override func addOperation(_ op: Operation) {
    follow(op)
    super.addOperation(op)
  }

  @available(*, noasync, message: "may block the thread; use addOperation(_:) and await drained()")
  open override func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
    for operation in ops { follow(operation) }
    super.addOperations(ops, waitUntilFinished: wait)
  }

  private func follow(_ operation: Operation) {
    let key = ObjectIdentifier(operation)
    let known = Followed(added: .now, isCancelled: operation.isCancelled)
    followed.withLock { $0[key] = known }
    tell(.added, operation, known, at: known.added)
    let tokens = [
      // The first change is the start. A class of a user's may post while it holds a lock that reading its property takes, so
      // no property is read here or in an observer.
      operation.observe(\.isExecuting) { [weak self] operation, _ in self?.started(operation) },
      operation.observe(\.isCancelled) { [weak self] operation, _ in self?.cancelled(operation) },
      operation.observe(\.isFinished) { [weak self] operation, _ in self?.finished(operation) },
    ]
    // The operation may have been started by hand, and have finished.
    followed.withLock { $0[key]?.tokens = tokens }
  }

  private func started(_ operation: Operation) {
    let now = ContinuousClock.now
    let known = followed.withLock { followed -> Followed? in
      let key = ObjectIdentifier(operation)
      guard followed[key] != nil, followed[key]?.started == nil else { return nil }
      followed[key]?.started = now
      return followed[key]
    }
    if let known { tell(.started, operation, known, at: now) }
  }

  private func cancelled(_ operation: Operation) {
    let known = followed.withLock { followed -> Followed? in
      let key = ObjectIdentifier(operation)
      followed[key]?.isCancelled = true
      return followed[key]
    }
    if let known { tell(.cancelled, operation, known, at: .now) }
  }

  private func finished(_ operation: Operation) {
    let known = followed.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) }
    if let known { tell(.finished, operation, known, at: .now) }
  }

  private func tell(
    _ kind: OperationEvent.Kind, _ operation: Operation, _ known: Followed, at instant: ContinuousClock.Instant
  ) {
    let hasEnded = kind == .finished
    let event = OperationEvent(
      kind: kind, operation: operation, queue: self, isCancelled: known.isCancelled, instant: instant,
      waited: (known.started ?? (hasEnded ? instant : nil)).map { known.added.duration(to: $0) },
      ran: hasEnded ? known.started.map { $0.duration(to: instant) } : nil)
    for observer in observers { observer.received(event) }
  }
}
