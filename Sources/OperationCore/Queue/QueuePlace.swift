/// The place of an operation that has finished, in a queue that has a limit: on its way to the next operation.
///
/// A place is *held* at first: the queue counts it as taken, and nobody else can get it. The operations that the finish
/// makes ready shall have it, if they are the most urgent ones. A place is *freed* before code of users runs, because
/// that code may wait for whoever gets the place: the queue counts it as free from then on, but a visit of the queue's
/// controller is still owed. The controller ends a place, in `admit` or `handOut`.
///
/// The compiler refuses to end a place twice. A debug build finds a place that nobody ends.
struct QueuePlace: ~Copyable {
  /// Whoever makes the place keeps the queue alive.
  let queue: Unmanaged<OperationQueue>
  private(set) var isHeld: Bool

  private init(of queue: OperationQueue, isHeld: Bool) {
    self.queue = Unmanaged.passUnretained(queue)
    self.isHeld = isHeld
  }

  static func held(of queue: OperationQueue) -> QueuePlace { QueuePlace(of: queue, isHeld: true) }
  /// A visit that is owed on behalf of a place that has been freed.
  static func freed(of queue: OperationQueue) -> QueuePlace { QueuePlace(of: queue, isHeld: false) }

  deinit { assertionFailure("a queue's place was forgotten") }

  var queueWord: UInt { UInt(bitPattern: queue.toOpaque()) }

  /// Called when code of users is about to run.
  mutating func free() {
    guard isHeld else { return }
    isHeld = false
    queue._withUnsafeGuaranteedRef { $0.controller.freeHeldPlace(of: $0) }
  }

  /// Frees the place. Another thread makes the visit, with `freed(of:)`.
  consuming func leaveToAnotherThread() -> OperationQueue {
    free()
    let queue = queue.takeUnretainedValue()
    discard self
    return queue
  }

  /// For the controller, which gives the place away now.
  /// - Returns: whether the place was still held.
  consuming func end() -> Bool {
    let wasHeld = isHeld
    discard self
    return wasHeld
  }
}
