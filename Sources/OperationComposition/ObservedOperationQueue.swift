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
  /// Whether the operation has been cancelled. An observer reads this in the place of the operation's own property: a
  /// subclass may post a change while it holds a lock that the property takes.
  public let isCancelled: Bool
  /// When it happened.
  public let instant: ContinuousClock.Instant
  /// From the adding to the start, or to the end of an operation that never started; nil before.
  public let waited: Duration?
  /// From the start to the end; nil before the end, and for an operation that never started.
  public let ran: Duration?
  /// How the operation ended: a `FailableOperation` may have failed. Nil before the end.
  public let outcome: OperationOutcome?
}

/// Is told what happens to the operations of a queue: for logs, metrics and spans.
///
/// The events of one operation come one after the other, in their order. They come on the threads that make the
/// changes: one that happens while an observer is being told of another event of the operation is told by that thread,
/// afterwards. So who waits for the operation or for the queue may go on a moment before the last event. The events
/// come outside of all locks of the library. So an observer must be quick, and must not block.
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

  /// An operation, and what has not been told of it.
  private final class Followed: Sendable {
    struct State: Sendable {
      var started: ContinuousClock.Instant?
      var isCancelled: Bool
      var isOver = false
      var untold: [OperationEvent] = []
      /// A thread tells observers now.
      var isTelling = false
      /// The observations end with them.
      var tokens: [OperationObservation] = []
    }

    let added = ContinuousClock.now
    let state: Mutex<State>

    init(isCancelled: Bool) { state = Mutex(State(isCancelled: isCancelled)) }
  }

  /// - Parameters:
  ///   - backend: what runs the operations.
  ///   - name: as `OperationQueue.name`.
  ///   - limit: as `OperationQueue.maxConcurrentOperationCount`.
  ///   - observers: are told in this order.
  public init(
    backend: any Backend, name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    observers: [any OperationObserver]
  ) {
    self.observers = observers
    super.init(backend: backend, name: name, maxConcurrentOperationCount: limit)
  }

  /// A queue on a backend, as the other initialiser makes it, for the short names such as `.threadPool`.
  @_disfavoredOverload
  public convenience init(
    backend: some Backend, name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    observers: [any OperationObserver]
  ) {
    self.init(
      backend: backend as any Backend, name: name, maxConcurrentOperationCount: limit, observers: observers)
  }

  /// A queue on the default backend.
  public convenience init(
    name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    observers: [any OperationObserver]
  ) {
    self.init(
      backend: OperationQueue().backend, name: name, maxConcurrentOperationCount: limit, observers: observers)
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
    let known = Followed(isCancelled: operation.isCancelled)
    followed.withLock { $0[ObjectIdentifier(operation)] = known }
    note(.added, operation, at: known.added)
    let tokens = [
      // The first change is the start. A class of a user's may post while it holds a lock that reading its property
      // takes, so no property is read in an observer.
      operation.observe(\.isExecuting) { [weak self] operation, _ in self?.note(.started, operation) },
      operation.observe(\.isCancelled) { [weak self] operation, _ in self?.note(.cancelled, operation) },
      operation.observe(\.isFinished) { [weak self] operation, _ in self?.note(.finished, operation) },
    ]
    // The operation may have been started by hand, and have finished.
    known.state.withLock { if !$0.isOver { $0.tokens = tokens } }
    // An observer that was told of the adding may have cancelled the operation.
    if operation.isCancelled { note(.cancelled, operation) }
  }

  /// Tells observers of an event, or leaves the event to the thread that tells them of an earlier one.
  private func note(
    _ kind: OperationEvent.Kind, _ operation: Operation, at instant: ContinuousClock.Instant = .now
  ) {
    let key = ObjectIdentifier(operation)
    let isEnd = kind == .finished
    guard let known = followed.withLock({ isEnd ? $0.removeValue(forKey: key) : $0[key] }) else { return }
    // Read without the lock: the property may be a user's.
    let failure = isEnd ? (operation as? any FailableOperation)?.failure : nil
    // Let go without the lock: an observation that ends takes a lock of its operation.
    var ended: [OperationObservation] = []
    defer { withExtendedLifetime(ended) {} }
    let mayTell = known.state.withLock { state -> Bool in
      switch kind {
      case _ where state.isOver: return false
      case .added: break
      case .started:
        if state.started != nil { return false }
        state.started = instant
      case .cancelled:
        if state.isCancelled { return false }
        state.isCancelled = true
      case .finished:
        state.isOver = true
        swap(&ended, &state.tokens)
      }
      state.untold.append(
        OperationEvent(
          kind: kind, operation: operation, queue: self, isCancelled: state.isCancelled, instant: instant,
          waited: (state.started ?? (isEnd ? instant : nil)).map { known.added.duration(to: $0) },
          ran: isEnd ? state.started.map { $0.duration(to: instant) } : nil,
          outcome: isEnd ? OperationOutcome(failure: failure, isCancelled: state.isCancelled) : nil))
      defer { state.isTelling = true }
      return !state.isTelling
    }
    if mayTell { tell(known) }
  }

  private func tell(_ known: Followed) {
    func next() -> [OperationEvent] {
      known.state.withLock { state in
        defer { state.untold = [] }
        state.isTelling = !state.untold.isEmpty
        return state.untold
      }
    }
    while case let events = next(), !events.isEmpty {
      for event in events { for observer in observers { observer.received(event) } }
    }
  }
}
