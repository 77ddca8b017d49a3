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
  /// Where the operation counted as running.
  private let level: UInt8

  private init(of queue: OperationQueue, isHeld: Bool, level: UInt8) {
    self.queue = Unmanaged.passUnretained(queue)
    self.isHeld = isHeld
    self.level = level
  }

  static func held(of queue: OperationQueue, level: Int) -> QueuePlace {
    QueuePlace(of: queue, isHeld: true, level: UInt8(truncatingIfNeeded: level))
  }
  /// A visit that is owed on behalf of a place that has been freed.
  static func freed(of queue: OperationQueue) -> QueuePlace { QueuePlace(of: queue, isHeld: false, level: 0) }

  deinit { assertionFailure("a queue's place was forgotten") }

  var queueWord: UInt { UInt(bitPattern: queue.toOpaque()) }

  /// Called when code of users is about to run.
  mutating func free() {
    guard isHeld else { return }
    isHeld = false
    queue._withUnsafeGuaranteedRef { $0.controller.freeHeldPlace(of: $0, level: Int(level)) }
  }

  /// Frees the place. Another thread makes the visit, with `freed(of:)`.
  consuming func leaveToAnotherThread() -> OperationQueue {
    free()
    let queue = queue.takeUnretainedValue()
    discard self
    return queue
  }

  /// For the controller, which gives the place away now.
  /// - Returns: where the place is held; nil when the place is not held any more.
  consuming func end() -> Int? {
    let held = isHeld ? Int(level) : nil
    discard self
    return held
  }
}
