/// Waits for all children that a body spawns, however many these are.
///
/// ```swift
/// import Operations
///
/// func visit(_ folder: Int, _ scope: SpawnScope<Never>) {
///   guard folder < 100 else { return }
///   for child in [2 * folder + 1, 2 * folder + 2] {
///     scope.spawn { visit(child, scope) }
///   }
/// }
/// withForkScope { scope in visit(0, scope) }
/// ```
///
/// `withForkScope(_:)` makes a scope, and returns when all children have ended. Children may spawn further children.
///
/// *Shape*: threads of the pool take children, the newest first. So the children that wait stay few while children
/// spawn. The thread that waits runs children as well, and nothing else.
///
/// *Cost*: children escape, so each costs an allocation for its closure, a lock for a moment, and a job of the pool now
/// and then. `join(_:_:)` and the loops cost none of these. They are better wherever the number of pieces is known.
public struct SpawnScope<Failure: Error>: Sendable {
  let core: SpawnCore

  /// Adds a child, which runs on any thread: on a thread of the pool, or on the thread that waits for the scope.
  ///
  /// In the child `OperationQueue.current` is that of the code around `withForkScope`. Cancelling stops no child.
  /// Any thread may spawn until the scope has ended, also one that runs no child of the scope.
  ///
  /// *Cost*: O(1), with an allocation.
  ///
  /// Traps when the scope has ended.
  ///
  /// - Parameter child: runs once. When it throws, children that were spawned later and have not begun are dropped.
  public func spawn(_ child: @escaping @Sendable () throws(Failure) -> Void) {
    core.spawn {
      do throws(Failure) {
        try child()
        return nil
      } catch { return error }
    }
  }
}

/// Runs a body that spawns children, and returns when the body and all children have ended.
///
/// ```swift
/// import Operations
///
/// let count = withForkScope { scope in
///   for name in ["a", "b"] { scope.spawn { print(name) } }
///   return 2
/// }
/// print(count)
/// ```
///
/// The body runs on the calling thread. Threads of the pool take children at once: those of the present operation's
/// backend, or else of the default one. `withForkScope(throwing:_:)` takes a body and children that throw.
///
/// *Cost*: O(number of children), with an allocation for the scope and one or two for each child.
///
/// Traps when the pool has been shut down.
///
/// - Parameter body: gets the scope.
/// - Returns: what the body returned.
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
public func withForkScope<Result>(_ body: (SpawnScope<Never>) -> Result) -> Result { spawnAndWait(body) }

/// Runs a body that spawns children and may throw, as they may, and returns when the body and all children have ended.
///
/// ```swift
/// import Operations
///
/// struct TooLong: Error {}
/// do throws(TooLong) {
///   try withForkScope(throwing: TooLong.self) { scope throws(TooLong) in
///     scope.spawn { () throws(TooLong) in throw TooLong() }
///   }
/// } catch { print(error) }
/// ```
///
/// When the body throws, children that have not begun are dropped, and the body's error is thrown. Otherwise the error
/// that is thrown is that of the child that was spawned first among those that threw. Either way all that has begun has
/// ended.
///
/// - Parameters:
///   - failure: the type of the errors that the body and the children throw.
///   - body: gets the scope.
/// - Returns: what the body returned.
@available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
public func withForkScope<Result, Failure: Error>(
  throwing failure: Failure.Type, _ body: (SpawnScope<Failure>) throws(Failure) -> Result
) throws(Failure) -> Result {
  try spawnAndWait(body)
}

func spawnAndWait<Result, Failure: Error>(
  _ body: (SpawnScope<Failure>) throws(Failure) -> Result
) throws(Failure) -> Result {
  let forks = ForkScope()
  defer { forks?.end() }
  let core = SpawnCore()
  core.list(true)
  defer { core.list(false) }
  let result: Result
  do throws(Failure) {
    result = try body(SpawnScope(core: core))
  } catch {
    core.dropChildren()
    _ = core.waitForChildren()
    throw error
  }
  if let error = core.waitForChildren() { throw error as! Failure }
  return result
}
