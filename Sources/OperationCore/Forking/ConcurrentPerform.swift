/// Calls a body once for each number below `iterations`, on several threads at the same time, and returns when all
/// calls have returned.
///
/// ```swift
/// let names = ["a.png", "b.png", "c.png"]
/// concurrentPerform(iterations: names.count) { index in
///   print(names[index])
/// }
/// ```
///
/// The function means what `DispatchQueue.concurrentPerform(iterations:execute:)` means. The calling thread takes part,
/// and threads of the pool help: those of the backend of the present operation, or else those of the default backend.
/// `Backend.concurrentPerform(iterations:execute:)` chooses the backend.
///
/// *Shape*: a thread runs its numbers in ascending order, and gives the upper half of what is left to a thread that
/// asks for work. How many numbers a thread runs between two looks follows from the time that they take. So no grain is
/// to be chosen.
///
/// *Errors*: when bodies throw, the error of the lowest number is thrown. Numbers above it may not be run. All that
/// have begun have returned.
///
/// *Inherited*: as by forks of `join(_:_:)`. Cancelling stops nothing: a body looks at `isCancelled` of its operation.
///
/// *Cost*: O(`iterations`) calls, without an allocation. A short loop costs little more than a `for` loop.
///
/// Traps when `iterations` is negative, and when the pool has been shut down.
///
/// - Parameters:
///   - iterations: how many numbers there are. With 0 nothing happens.
///   - work: called with each number from 0 up to `iterations - 1`.
@available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
@inlinable @inline(__always)
public func concurrentPerform<Failure: Error>(
  iterations: Int, execute work: @Sendable (Int) throws(Failure) -> Void
) throws(Failure) {
  try performLoop(iterations, on: nil, work)
}

extension Backend {
  /// Calls a body once for each number below `iterations`, on the calling thread and on threads of this backend.
  ///
  /// ```swift
  /// ThreadPoolBackend(workers: 4).concurrentPerform(iterations: 100) { print($0) }
  /// ```
  @available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
  @inlinable @inline(__always)
  public func concurrentPerform<Failure: Error>(
    iterations: Int, execute work: @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    try performLoop(iterations, on: self, work)
  }
}

/// The loop of `concurrentPerform`. The body becomes part of the closure that runs a chunk.
@inlinable @inline(__always)
func performLoop<Failure: Error>(
  _ count: Int, on backend: (any Backend)?, _ body: (Int) throws(Failure) -> Void
) throws(Failure) {
  if count < 0 { forkMisuse("concurrentPerform was called with \(count) iterations: the number must not be negative") }
  let error = runLoop(on: backend, count, memory: nil) { lower, upper, _ in
    var index = lower
    while index < upper {
      do throws(Failure) { try body(index) } catch { return LoopFailure(index: index, error: error) }
      index &+= 1
    }
    return nil
  }
  if let error { throw error as! Failure }
}
