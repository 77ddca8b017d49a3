import OperationCore
import OperationJobs

// What bodies and tests call: time, and letting others go on.

extension DeterministicBackend {
  /// The virtual time since the backend was made.
  public var now: Duration { clock.now.offset }

  // MARK: - In bodies

  /// Takes virtual time, as a body that computes for so long: its virtual worker is busy, and other workers go on.
  ///
  /// Outside of the backend's jobs the call is `advance(by:)`. Traps when the duration is negative.
  public func work(for duration: Duration) {
    pass(checked(duration, "work(for:)"), givesPlace: false)
  }

  /// Sleeps for virtual time, as a body that waits for a device: another virtual worker may take the place.
  ///
  /// Outside of the backend's jobs the call is `advance(by:)`. Traps when the duration is negative.
  public func sleep(for duration: Duration) {
    pass(checked(duration, "sleep(for:)"), givesPlace: true)
  }

  private func pass(_ nanoseconds: Int64, givesPlace: Bool) {
    let end = driver.now(after: nanoseconds)
    driver.wait(for: driver.isInJob ? .time(end) : .rest(upTo: end), givesPlace: givesPlace)
  }

  /// Lets others go on here, if the seed says so: a place where a real thread could be interrupted. No virtual time
  /// passes, unless others let time pass.
  ///
  /// Inside a job other workers may run. In the body of a test jobs may run.
  public func yield() { driver.wait(for: .turn, givesPlace: false) }

  /// Waits until a condition of yours holds, and lets others go on meanwhile: in place of a semaphore, which the
  /// backend would not know.
  ///
  /// The condition is looked at after each step, and every few milliseconds of real time while nothing happens.
  /// - Parameter condition: called on any thread of the backend. Must not block, and must not call this backend.
  public func waitUntil(_ condition: () -> Bool) { while !condition() { wait(until: condition) } }

  // MARK: - In tests

  /// Runs jobs until nothing is left that can run. With `advancesByItself` the clock goes on as far as there are
  /// events. Traps inside a job.
  ///
  /// A body that was left to itself is waited for while it computes. Operations that wait for a thread outside may be
  /// left, and so may a body that was left to itself and sleeps in something that the backend does not know: the test
  /// may be what it waits for. The same holds for `run(until:)` and `advance(by:)`.
  public func run() {
    checkOutside("run()")
    driver.wait(for: .rest(upTo: nil), givesPlace: false)
  }

  /// Runs everything that happens up to `instant`, and sets the clock to it. Traps inside a job, and when the instant
  /// is past.
  public func run(until instant: DeterministicClock.Instant) {
    checkOutside("run(until:)")
    checkNotPast(instant)
    driver.wait(for: .rest(upTo: instant.offset.wholeNanoseconds), givesPlace: false)
  }

  /// Runs everything that happens in the next `duration` of virtual time, and sets the clock to its end. Traps inside a
  /// job, and when the duration is negative.
  public func advance(by duration: Duration) {
    checkOutside("advance(by:)")
    driver.wait(for: .rest(upTo: driver.now(after: checked(duration, "advance(by:)"))), givesPlace: false)
  }

  /// Calls a block when so much virtual time has passed: for the finish of an asynchronous operation. The block runs on
  /// a thread of the backend, outside of all virtual workers, and may wait. `shutdown()` drops blocks that no operation
  /// needs any more. Traps when the duration is negative, and after `shutdown()`.
  ///
  /// ```swift
  /// import DeterministicOperations
  /// import Operations
  ///
  /// withDeterministicOperations(seed: 1) { backend in
  ///   let answer = AsynchronousOperation { operation in
  ///     backend.after(.seconds(30)) { operation.finish() }
  ///   }
  ///   OperationQueue(backend: backend).addOperations([answer], waitUntilFinished: true)
  ///   print(backend.now)  // 30.0 seconds
  /// }
  /// ```
  public func after(_ duration: Duration, _ block: @escaping @Sendable () -> Void) {
    driver.run(after: checked(duration, "after(_:)"), block)
  }

  /// Notes something of yours among the steps, such as a value that a body has read: `checksDeterminism` then compares
  /// it.
  public func note(_ text: @autoclosure () -> String) {
    let strand = driver.currentCarrier?.strand
    guard driver.lock.withLock({ driver.lock.state.records.isOn }) else { return }
    let text = text()
    driver.lock.withLock { driver.lock.state.records.add(driver.lock.state.pool.now, strand, text) }
  }

  private func checkNotPast(_ instant: DeterministicClock.Instant) {
    let now = clock.now
    if instant < now {
      fatalError(
        "Operations: deterministic: run(until:) cannot go back: it is \(now.offset.inMilliseconds), and the instant is"
          + " \(instant.offset.inMilliseconds)")
    }
  }

  private func checkOutside(_ call: String) {
    if driver.isInJob {
      fatalError(
        "Operations: deterministic: \(call) inside a job of the backend would wait for itself; a body calls work(for:),"
          + " sleep(for:), yield() or waitUntil(_:)")
    }
  }
}

/// A duration in nanoseconds. Traps when it is negative.
func checked(_ duration: Duration, _ call: String) -> Int64 {
  if duration < .zero {
    fatalError("Operations: deterministic: \(call) needs a duration of 0 or more, not \(duration)")
  }
  return duration.wholeNanoseconds
}

extension Driver {
  /// Whether the calling task is the body of an operation.
  var isInBody: Bool { backend.map { DrivenBackends.isInBody(of: $0) } ?? false }

  /// The virtual time in `delay` nanoseconds.
  func now(after delay: Int64) -> Int64 { lock.withLock { VirtualTime.after(lock.state.pool.now, delay) } }
}

// What tasks call, which must not block their threads.
extension DeterministicBackend {
  /// See `run()`: does not block the thread.
  public func run() async { await driver.waitAsTask(for: .rest(upTo: nil)) }

  /// See `run(until:)`: does not block the thread.
  public func run(until instant: DeterministicClock.Instant) async {
    checkNotPast(instant)
    await driver.waitAsTask(for: .rest(upTo: instant.offset.wholeNanoseconds))
  }

  /// See `advance(by:)`: does not block the thread.
  public func advance(by duration: Duration) async {
    await driver.waitAsTask(for: .rest(upTo: driver.now(after: checked(duration, "advance(by:)"))))
  }

  /// See `waitUntil(_:)`: does not block the thread.
  public func waitUntil(_ condition: @escaping @Sendable () -> Bool) async {
    while !condition() { await driver.waitAsTask(for: .holds(condition)) }
  }
}

extension Driver {
  /// Returns when the condition holds; at once when the backend has ended.
  func waitAsTask(for condition: sending Condition) async {
    await withCheckedContinuation { continuation in
      let waiter = Waiter(condition, resume: { _ in continuation.resume() })
      if !enterTask(waiter) { continuation.resume() }
    }
  }
}
