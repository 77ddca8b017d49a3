import CPlatform

/// Runs two bodies, at the same time where a thread is free, and returns what both returned.
///
/// `first` runs on the calling thread. `second` is a *fork*: another thread of the pool may take it while `first` runs.
/// A fork that nobody took runs on the calling thread, after `first`. Then the call costs little more than two calls.
///
/// ```swift
/// func sum(_ numbers: ArraySlice<Int>) -> Int {
///   guard numbers.count > 1_000 else { return numbers.reduce(0, +) }
///   let middle = (numbers.startIndex + numbers.endIndex) / 2
///   let (left, right) = join({ sum(numbers[..<middle]) }, { sum(numbers[middle...]) })
///   return left + right
/// }
/// ```
///
/// *Where*: inside an operation on a backend of this library the threads of that backend help. Anywhere else, as on the
/// main thread or on a dispatch queue of the program's, the threads of the default backend help. `Backend.run(_:)`
/// chooses another backend, also for asynchronous functions: these call `join` in the body of `run`.
///
/// *Errors*: when `first` throws, a fork that nobody took is dropped, and one that was taken is awaited. When both
/// throw, the error of `first` is thrown.
///
/// *Inherited*: in a fork `OperationQueue.current` and task-local values are those of the caller, and the pool gives
/// the fork the priority that the caller's operation has when the fork is shown to others. Cancelling stops nothing: a
/// body looks at `isCancelled` of its operation.
///
/// *Cost*: O(1), without an allocation. A wait for a fork that another thread took runs forks of the same outermost
/// `join`, and nothing else. After that the thread sleeps, and another thread takes its place. So a body must not hold
/// a lock during a `join` when another body of the same outermost `join` takes that lock.
///
/// Traps when the pool has been shut down. The design follows Blumofe and Leiserson, "Scheduling multithreaded
/// computations by work stealing" (1999), Wagner and Calder, "Leapfrogging" (1993), and Faxén, "Wool" (2008).
///
/// - Parameters:
///   - first: runs on the calling thread.
///   - second: runs there too, or on another thread. So `second` may only use what is `Sendable`.
/// - Returns: what `first` and `second` returned.
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
@inlinable @inline(__always)
@discardableResult
public func join<First, Second: Sendable, Failure: Error>(
  _ first: () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> Second
) throws(Failure) -> (First, Second) {
  let joined: Joined<First, Second> = try forkAndJoin(first, second)
  return (joined.first, joined.second)
}

/// Runs two bodies that return nothing.
///
/// (A function of its own, so that the call has no result that a closure around the call could take for its own.)
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
@inlinable @inline(__always)
public func join<Failure: Error>(
  _ first: () throws(Failure) -> Void, _ second: @Sendable () throws(Failure) -> Void
) throws(Failure) {
  let _: Joined<Void, Void> = try forkAndJoin(first, second)
}

/// Runs two bodies, of which `second` makes a value that is not `Sendable`, and gives it away.
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
@inlinable @inline(__always)
@discardableResult
public func join<First, Second, Failure: Error>(
  _ first: () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> sending Second
) throws(Failure) -> (First, Second) {
  let joined: Joined<First, Second> = try forkAndJoin(first, second)
  return (joined.first, joined.second)
}

/// Runs two bodies whose results cannot be copied.
/// - Returns: the two results, which the caller takes out of the value.
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
@inlinable @inline(__always)
public func join<First: ~Copyable, Second: ~Copyable, Failure: Error>(
  _ first: () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> sending Second
) throws(Failure) -> Joined<First, Second> {
  try forkAndJoin(first, second)
}

/// The results of a `join`, as a value that may hold what cannot be copied.
@frozen
public struct Joined<First: ~Copyable, Second: ~Copyable>: ~Copyable {
  /// What the first body returned.
  public var first: First
  /// What the second body returned.
  public var second: Second

  @inlinable
  init(_ first: consuming First, _ second: consuming Second) {
    self.first = first
    self.second = second
  }
}

extension Joined: Copyable where First: Copyable, Second: Copyable {}
extension Joined: Sendable where First: Sendable & ~Copyable, Second: Sendable & ~Copyable {}

/// What became of a fork that another thread took.
@frozen @usableFromInline
enum ForkOutcome<Value: ~Copyable, Failure: Error>: ~Copyable {
  case pending
  case value(Value)
  case failure(Failure)

  /// Runs the body of the fork.
  @inlinable @inline(__always)
  init(_ body: () throws(Failure) -> Value) {
    do throws(Failure) { self = .value(try body()) } catch { self = .failure(error) }
  }

  @inlinable @inline(__always)
  consuming func get() throws(Failure) -> Value {
    switch consume self {
    case .value(let value): return value
    case .failure(let error): throw error
    case .pending: forkHasNotRun()
    }
  }
}

@usableFromInline @inline(never)
func forkHasNotRun() -> Never { fatalError("Operations: a fork counts as done that has not run") }

/// Adds a fork to the list of the calling thread. The definition is in C (`CPlatformForks.c`): Swift has no way to keep
/// a closure that does not escape, and a C function gets such a closure as two words.
/// - Returns: nil when the thread has no list in this operation, or when the list is full.
@_silgen_name("cplatform_fork_push")
@usableFromInline
func pushFork(_ body: () -> Void) -> UnsafeMutablePointer<cplatform_fork>?

@inlinable @inline(__always)
package func forkAndJoin<First: ~Copyable, Second: ~Copyable, Failure: Error>(
  _ first: () throws(Failure) -> First, _ second: () throws(Failure) -> Second
) throws(Failure) -> Joined<First, Second> {
  var outcome = ForkOutcome<Second, Failure>.pending
  return try _withUnprotectedUnsafeMutablePointer(to: &outcome) { outcome throws(Failure) in
    try forkAndJoin({ outcome.pointee = ForkOutcome(second) }, outcome, first, second)
  }
}

/// - Parameter body: runs `second` into `outcome`. The closure lies on the stack, and a thief calls it. So every path
///   on which a thief may have it uses it once more at its end: right behind the last use the compiler releases what
///   the closure captured, and may use its place on the stack for something else.
@inlinable @inline(__always)
func forkAndJoin<First: ~Copyable, Second: ~Copyable, Failure: Error>(
  _ body: () -> Void, _ outcome: UnsafeMutablePointer<ForkOutcome<Second, Failure>>,
  _ first: () throws(Failure) -> First, _ second: () throws(Failure) -> Second
) throws(Failure) -> Joined<First, Second> {
  guard let fork = pushFork(body) else { return try joinInScope(first, second).get() }
  let firstResult: First
  do throws(Failure) {
    firstResult = try first()
  } catch {
    dropFork(fork, body)
    throw error
  }
  if _fastPath(cplatform_fork_pop(fork)) { return Joined(firstResult, try second()) }
  if settleFork(fork, body) { return Joined(firstResult, try second()) }
  switch exchange(&outcome.pointee, with: .pending) {
  case .value(let second): return Joined(firstResult, second)
  case .failure(let error): throw error
  case .pending: forkHasNotRun()
  }
}

/// An outermost join: the thread gets a list for its length. The function throws nothing: a call that may throw would
/// cost each join a register, also where no call is made.
@inlinable @inline(never)
func joinInScope<First: ~Copyable, Second: ~Copyable, Failure: Error>(
  _ first: () throws(Failure) -> First, _ second: () throws(Failure) -> Second
) -> ForkOutcome<Joined<First, Second>, Failure> {
  guard let scope = ForkScope() else {
    return ForkOutcome { () throws(Failure) in
      let firstResult = try first()
      return Joined(firstResult, try second())
    }
  }
  defer { scope.end() }
  return ForkOutcome { () throws(Failure) in try forkAndJoin(first, second) }
}
