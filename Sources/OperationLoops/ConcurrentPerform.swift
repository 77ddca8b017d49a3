import OperationForks

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
/// `Backend.run(_:)` chooses another backend.
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
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
@inlinable @inline(__always)
public func concurrentPerform<Failure: Error>(
  iterations: Int, execute work: @Sendable (Int) throws(Failure) -> Void
) throws(Failure) {
  if iterations < 0 {
    forkMisuse("concurrentPerform was called with \(iterations) iterations: the number must not be negative")
  }
  let error = runLoop(iterations, memory: nil) { lower, upper, _ in
    var index = lower
    while index < upper {
      do throws(Failure) { try work(index) } catch { return LoopFailure(index: index, error: error) }
      index &+= 1
    }
    return nil
  }
  if let error { throw error as! Failure }
}
