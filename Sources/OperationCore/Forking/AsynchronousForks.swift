import CPlatform

// The asynchronous functions. The task itself goes on on a thread of the pool, calls the function that blocks there,
// and comes back. So no thread of Swift's own pool waits.

/// Calls a body on a thread of the backend. Forks inside of the body are on this backend, and have the level of the
/// task's priority.
@usableFromInline
@concurrent
func onThreads<Result: ~Copyable, Failure: Error>(
  of backend: (any Backend)?, _ body: () throws(Failure) -> sending Result
) async throws(Failure) -> sending Result {
  let backend = backend ?? DrivenBackends.orDefault
  var handed: Handed<Result>?
  try await withTaskExecutorPreference(BackendTaskExecutor(backend)) { () async throws(Failure) in
    handed = Handed(value: try inScope(of: backend, body))
  }
  guard let handed = handed.take() else { fatalError("Operations: a body has ended without a result") }
  return handed.value
}

/// What a body has given away.
private struct Handed<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: the body gave the value away (`sending`), and nobody but the caller gets it.
  let value: Value
}

private func inScope<Result: ~Copyable, Failure: Error>(
  of backend: any Backend, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let scope = ForkScope(on: backend, level: Operation.QueuePriority(of: Task.currentPriority.rawValue).level)
  defer { scope?.end() }
  return try body()
}

/// Runs two bodies on threads of the pool, at the same time where one is free, and returns what both returned.
///
/// ```swift
/// func both() async -> (Int, Int) {
///   await join({ 1 + 1 }, { 2 + 2 })
/// }
/// ```
///
/// The task goes on on a thread of the default backend, and comes back when both bodies have returned: no thread of
/// Swift's own is blocked. Both bodies see the task's cancellation, name and task-local values. Cancelling the task
/// stops nothing. The task's priority chooses the level in the pool, as `qualityOfService` does.
///
/// When both bodies throw, the error of `first` is thrown. Traps when the pool has been shut down.
///
/// - Parameters:
///   - first: runs on a thread of the pool.
///   - second: runs there too, or on another thread.
/// - Returns: what `first` and `second` returned.
@inlinable
@discardableResult
public func join<First: Sendable, Second: Sendable, Failure: Error>(
  _ first: @Sendable () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> Second
) async throws(Failure) -> (First, Second) {
  try await onThreads(of: nil) { () throws(Failure) -> (First, Second) in
    let joined = try forkAndJoin(first, second)
    return (joined.first, joined.second)
  }
}

/// Runs two bodies that return nothing, on threads of the pool.
@inlinable
public func join<Failure: Error>(
  _ first: @Sendable () throws(Failure) -> Void, _ second: @Sendable () throws(Failure) -> Void
) async throws(Failure) {
  try await onThreads(of: nil) { () throws(Failure) in
    let _: Joined<Void, Void> = try forkAndJoin(first, second)
  }
}

/// Runs two bodies that make values that are not `Sendable`, and give them away.
@inlinable
@discardableResult
public func join<First, Second, Failure: Error>(
  _ first: @Sendable () throws(Failure) -> sending First, _ second: @Sendable () throws(Failure) -> sending Second
) async throws(Failure) -> sending (First, Second) {
  try await onThreads(of: nil) { () throws(Failure) -> (First, Second) in
    let joined = try forkAndJoin(first, second)
    return (joined.first, joined.second)
  }
}

/// Runs two bodies whose results cannot be copied, on threads of the pool.
/// - Returns: the two results, which the caller takes out of the value.
@inlinable
public func join<First: ~Copyable, Second: ~Copyable, Failure: Error>(
  _ first: @Sendable () throws(Failure) -> sending First, _ second: @Sendable () throws(Failure) -> sending Second
) async throws(Failure) -> sending Joined<First, Second> {
  try await onThreads(of: nil) { () throws(Failure) -> Joined<First, Second> in try forkAndJoin(first, second) }
}

/// Calls a body once for each number below `iterations`, on threads of the pool, and returns when all calls have
/// returned.
///
/// ```swift
/// func printAll() async {
///   await concurrentPerform(iterations: 3) { print($0) }
/// }
/// ```
///
/// The task goes on on a thread of the default backend, and comes back: no thread of Swift's own is blocked. Cancelling
/// the task stops nothing. When bodies throw, the error of the lowest number is thrown.
///
/// - Parameters:
///   - iterations: how many numbers there are.
///   - work: called with each number from 0 up to `iterations - 1`.
@inlinable
public func concurrentPerform<Failure: Error>(
  iterations: Int, execute work: @Sendable (Int) throws(Failure) -> Void
) async throws(Failure) {
  try await onThreads(of: nil) { () throws(Failure) in try performLoop(iterations, on: nil, work) }
}

/// Runs a body that spawns children, on threads of the pool, and returns when the body and all children have ended.
///
/// ```swift
/// func printBoth() async {
///   await withForkScope { scope in
///     scope.spawn { print("a") }
///     scope.spawn { print("b") }
///   }
/// }
/// ```
///
/// The task goes on on a thread of the default backend, and comes back: no thread of Swift's own is blocked. Cancelling
/// the task stops nothing. Children that are spawned in a child count too.
///
/// - Parameter body: gets the scope.
/// - Returns: what the body returned.
public func withForkScope<Result>(
  _ body: @Sendable (SpawnScope<Never>) -> sending Result
) async -> sending Result {
  await onThreads(of: nil) { spawnAndWait(on: nil, body) }
}

/// Runs a body that spawns children and may throw, as they may, on threads of the pool.
///
/// When the body throws, children that have not begun are dropped, and the body's error is thrown. Otherwise the error
/// is that of the child that was spawned first among those that threw.
///
/// - Parameters:
///   - failure: the type of the errors that the body and the children throw.
///   - body: gets the scope.
/// - Returns: what the body returned.
public func withForkScope<Result, Failure: Error>(
  throwing failure: Failure.Type, _ body: @Sendable (SpawnScope<Failure>) throws(Failure) -> sending Result
) async throws(Failure) -> sending Result {
  try await onThreads(of: nil) { () throws(Failure) -> Result in try spawnAndWait(on: nil, body) }
}

extension Backend {
  /// Runs two bodies on threads of this backend, and returns what both returned.
  @inlinable
  @discardableResult
  public func join<First: Sendable, Second: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> Second
  ) async throws(Failure) -> (First, Second) {
    try await onThreads(of: self) { () throws(Failure) -> (First, Second) in
      let joined = try forkAndJoin(first, second)
      return (joined.first, joined.second)
    }
  }

  /// Runs two bodies that return nothing, on threads of this backend.
  @inlinable
  public func join<Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Void, _ second: @Sendable () throws(Failure) -> Void
  ) async throws(Failure) {
    try await onThreads(of: self) { () throws(Failure) in
      let _: Joined<Void, Void> = try forkAndJoin(first, second)
    }
  }

  /// Runs two bodies that make values that are not `Sendable`, and give them away.
  @inlinable
  @discardableResult
  public func join<First, Second, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> sending First, _ second: @Sendable () throws(Failure) -> sending Second
  ) async throws(Failure) -> sending (First, Second) {
    try await onThreads(of: self) { () throws(Failure) -> (First, Second) in
      let joined = try forkAndJoin(first, second)
      return (joined.first, joined.second)
    }
  }

  /// Calls a body once for each number below `iterations`, on threads of this backend.
  @inlinable
  public func concurrentPerform<Failure: Error>(
    iterations: Int, execute work: @Sendable (Int) throws(Failure) -> Void
  ) async throws(Failure) {
    try await onThreads(of: self) { () throws(Failure) in try performLoop(iterations, on: nil, work) }
  }

  /// Runs a body that spawns children, on threads of this backend.
  public func withForkScope<Result>(
    _ body: @Sendable (SpawnScope<Never>) -> sending Result
  ) async -> sending Result {
    await onThreads(of: self) { spawnAndWait(on: nil, body) }
  }

  /// Runs a body that spawns children and may throw, as they may, on threads of this backend.
  public func withForkScope<Result, Failure: Error>(
    throwing failure: Failure.Type, _ body: @Sendable (SpawnScope<Failure>) throws(Failure) -> sending Result
  ) async throws(Failure) -> sending Result {
    try await onThreads(of: self) { () throws(Failure) -> Result in try spawnAndWait(on: nil, body) }
  }
}

/// Adds loops and reductions for asynchronous code.
extension RandomAccessCollection where Self: Sendable {
  /// Calls a body once for each element, on threads of the pool.
  ///
  /// The task goes on on a thread of the backend, and comes back: no thread of Swift's own is blocked. Cancelling the
  /// task stops nothing. When bodies throw, the error of the first such element is thrown.
  ///
  /// - Parameters:
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - body: called with each element.
  @inlinable
  public func concurrentForEach<Failure: Error>(
    on backend: (any Backend)? = nil, _ body: @Sendable (Element) throws(Failure) -> Void
  ) async throws(Failure) {
    try await onThreads(of: backend) { () throws(Failure) in try visitElements(on: nil, body) }
  }

  /// Returns what a function returns for each element, in the order of the elements. The function is called on threads
  /// of the pool.
  ///
  /// The task goes on on a thread of the backend, and comes back: no thread of Swift's own is blocked. Cancelling the
  /// task stops nothing. When the function throws, the error of the first such element is thrown.
  ///
  /// - Parameters:
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - transform: called with each element.
  @inlinable
  public func concurrentMap<Result: Sendable, Failure: Error>(
    on backend: (any Backend)? = nil, _ transform: @Sendable (Element) throws(Failure) -> Result
  ) async throws(Failure) -> [Result] {
    try await onThreads(of: backend) { () throws(Failure) -> [Result] in try mapElements(on: nil, transform) }
  }

  /// Returns what a function returns for each element, when that is not `Sendable`: the function gives it away.
  @inlinable
  public func concurrentMap<Result, Failure: Error>(
    on backend: (any Backend)? = nil, _ transform: @Sendable (Element) throws(Failure) -> sending Result
  ) async throws(Failure) -> sending [Result] {
    try await onThreads(of: backend) { () throws(Failure) -> [Result] in try mapElements(on: nil, transform) }
  }

  /// Combines all elements, on threads of the pool.
  ///
  /// The task goes on on a thread of the backend, and comes back: no thread of Swift's own is blocked. Cancelling the
  /// task stops nothing. The result is the same with any number of threads.
  ///
  /// - Parameters:
  ///   - initialResult: what each block begins with.
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - nextPartialResult: adds an element to what came before it in its block.
  ///   - combine: combines the results of two neighbouring parts.
  @inlinable
  public func concurrentReduce<Result: Sendable, Failure: Error>(
    _ initialResult: Result, on backend: (any Backend)? = nil,
    _ nextPartialResult: @Sendable (Result, Element) throws(Failure) -> Result,
    combine: @Sendable (Result, Result) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await onThreads(of: backend) { () throws(Failure) -> Result in
      try reduceElements(initialResult, on: nil, nextPartialResult, combine)
    }
  }

  /// Combines all elements with one function, on threads of the pool.
  ///
  /// For the result of `reduce(_:_:)`, `combine` must be associative, and must give back the other value when one of
  /// the two is `initialResult`.
  ///
  /// - Parameters:
  ///   - initialResult: what each block begins with, as 0 for a sum.
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - combine: combines two neighbouring values.
  @inlinable
  public func concurrentReduce<Failure: Error>(
    _ initialResult: Element, on backend: (any Backend)? = nil,
    _ combine: @Sendable (Element, Element) throws(Failure) -> Element
  ) async throws(Failure) -> Element where Element: Sendable {
    try await onThreads(of: backend) { () throws(Failure) -> Element in
      try reduceElements(initialResult, on: nil, combine, combine)
    }
  }
}

/// Adds a stable sort, by a function, for asynchronous code.
extension MutableCollection where Self: RandomAccessCollection & Sendable, Element: Sendable {
  /// Sorts the collection in place, on threads of the pool. The sort is stable.
  ///
  /// The task goes on on a thread of the backend, and comes back: no thread of Swift's own is blocked. Cancelling the
  /// task stops nothing. When the function throws, one of its errors is thrown, and the collection has all its
  /// elements, in some order.
  ///
  /// - Parameters:
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - areInIncreasingOrder: whether its first argument comes before its second one.
  @inlinable
  public mutating func concurrentSort<Failure: Error>(
    on backend: (any Backend)? = nil, by areInIncreasingOrder: @Sendable (Element, Element) throws(Failure) -> Bool
  ) async throws(Failure) {
    try await onThreads(of: backend) { () throws(Failure) in try sortInPlace(on: nil, areInIncreasingOrder) }
  }
}

/// Adds a stable sort, in ascending order, for asynchronous code.
extension MutableCollection where Self: RandomAccessCollection & Sendable, Element: Sendable & Comparable {
  /// Sorts the collection in ascending order, in place, on threads of the pool. The sort is stable.
  ///
  /// - Parameter backend: whose threads are used; nil for those of the default one.
  @inlinable
  public mutating func concurrentSort(on backend: (any Backend)? = nil) async {
    await onThreads(of: backend) { sortAscending(on: nil) }
  }
}

/// Adds a way to give parts of an array to several threads, for asynchronous code.
extension Array where Element: Sendable {
  /// Calls a body with each chunk of the array, to change its elements in place, on threads of the pool.
  ///
  /// The task goes on on a thread of the backend, and comes back: no thread of Swift's own is blocked. Cancelling the
  /// task stops nothing. When bodies throw, the error of the first such chunk is thrown.
  ///
  /// - Parameters:
  ///   - size: the number of elements of each chunk. The last one may be shorter.
  ///   - backend: whose threads are used; nil for those of the default one.
  ///   - body: called with the number of each chunk, from 0 on, and its elements, which count from 0.
  @inlinable
  public mutating func concurrentForEachChunk<Failure: Error>(
    ofCount size: Int, on backend: (any Backend)? = nil,
    _ body: @Sendable (_ number: Int, _ chunk: inout MutableSpan<Element>) throws(Failure) -> Void
  ) async throws(Failure) {
    try await onThreads(of: backend) { () throws(Failure) in
      var span = mutableSpan
      try span.visitChunks(ofCount: size, on: nil, body)
    }
  }
}
