import Dispatch
import HarnessWords

/// `DispatchQueue.async` on a private concurrent queue, without an operation layer. The queue has no priorities within
/// itself, no dependencies and no cancellation of a whole queue, so the cells of such benchmarks stay empty. One piece
/// of work can be cancelled (`DispatchWorkItem`), and a join is a group's `notify`. A fork is a `concurrentPerform` of
/// two iterations.
public final class RawDispatchSubject: CancellableSubject {
  public static var name: String { "raw-dispatch" }
  public static var summary: String { "DispatchQueue.async on a concurrent queue" }
  public static var role: SubjectRole { .standingReference }
  public static var workersAreAdjustable: Bool { false }
  public static var abilities: Abilities { [.threads, .cancellation, .barriers, .suspension, .forks, .loops] }

  @usableFromInline let queue = DispatchQueue(label: "opbench.raw-dispatch", attributes: .concurrent)

  public init(workers: Int) {}

  @inlinable public func submit(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  @inlinable
  public func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    for index in 0..<count { queue.async(group: group) { body(index) } }
    group.notify(queue: queue, execute: join)
  }

  /// A barrier runs after everything that was submitted before the barrier.
  @inlinable public func drain() { queue.sync(flags: .barrier) {} }

  @inlinable
  public func submitBarrier(_ body: @escaping @Sendable () -> Void) { queue.async(flags: .barrier, execute: body) }

  @inlinable public func setSuspended(_ suspended: Bool) { if suspended { queue.suspend() } else { queue.resume() } }

  /// `concurrentPerform` may be called on any thread.
  @inlinable
  public func forkFromOutside(_ first: @Sendable () -> Int, _ second: @Sendable () -> Int) -> (Int, Int) {
    Self.fork(first, second)
  }

  @inlinable
  public static func fork<Value: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Value, _ second: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> (Value, Value) {
    var results: (Result<Value, Failure>?, Result<Value, Failure>?) = (nil, nil)
    withUnsafeMutablePointer(to: &results) { pointer in
      // Each iteration writes a result of its own, and both have run when the call returns.
      nonisolated(unsafe) let results = pointer
      DispatchQueue.concurrentPerform(iterations: 2) { iteration in
        if iteration == 0 {
          results.pointee.0 = Result(catching: first)
        } else {
          results.pointee.1 = Result(catching: second)
        }
      }
    }
    guard let first = results.0, let second = results.1 else {
      preconditionFailure("concurrentPerform returned before its iterations had run")
    }
    return (try first.get(), try second.get())
  }

  @inlinable
  public func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    DispatchQueue.concurrentPerform(iterations: count, execute: body)
  }

  /// A work item that the item's own body can see.
  public final class Cancellable: @unchecked Sendable {
    // Set once, before the item is given to the queue, and never written again.
    fileprivate var item: DispatchWorkItem?
  }

  public func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    let work = Cancellable()
    // The reference is weak, because the work holds the item and the item holds its body. The caller that may cancel
    // keeps the work until then.
    let item = DispatchWorkItem { [weak work] in
      if let work { body(work) }
    }
    work.item = item
    queue.async(execute: item)
    return work
  }

  public static func cancel(_ work: Cancellable) { work.item?.cancel() }
  public static func isCancelled(_ work: Cancellable) -> Bool { work.item?.isCancelled ?? false }
}
