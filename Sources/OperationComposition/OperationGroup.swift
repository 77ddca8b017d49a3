import OperationCore
import Operations
import Synchronization

/// Operations that are one operation to everybody outside: cancelled, awaited, limited and suspended as one.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func archive(_ names: [String]) async throws -> Int {
///   let queue = OperationQueue()
///   let group = queue.addGroup(name: "archive", maxConcurrentOperationCount: 2) { members in
///     let sizes = names.map { name in members.addTask { name.utf8.count } }
///     var total = 0
///     for size in sizes { total += try await size.value }
///     return total
///   }
///   return try await group.value
/// }
/// ```
///
/// `operation` is the group as an operation of the outer queue. When it starts, its body gets the members' queue and
/// adds members there. The operation finishes when the body has returned and every member has finished, also those that
/// members have added. The group holds one place of the outer queue all that time. Its members hold places of their own
/// queue.
///
/// Cancelling `operation` cancels every member, also members that are added afterwards, and lets a suspended group end.
/// The limits of a cancelled group are lifted: cancelled members need no place.
/// When the body throws, all members are cancelled, too, and the error is the group's result after they have ended. The
/// error of a member is the group's only where the body awaits the member's `value`.
///
/// A member that awaits `operation`, or the outer queue, would wait for itself: `value` throws a `CircularWait` there.
///
/// While a task waits for `operation`, the members are as urgent as the task.
public final class OperationGroup<Success: Sendable, Failure: Error>: Sendable {
  /// The group, as an operation. It is added to a queue once.
  public let operation: TaskOperation<Success, Failure>
  private let members: MemberQueue
  private let watch: CancellationWatch

  /// A group that is in no queue yet. O(1).
  /// - Parameters:
  ///   - backend: what runs the members.
  ///   - name: that of the operation and of the members' queue.
  ///   - limit: how many members may run at a time, as `OperationQueue.maxConcurrentOperationCount`.
  ///   - body: adds members to the queue that it gets. It may await them.
  public init(
    backend: some Backend, name: String? = nil,
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    body: @escaping @Sendable (OperationQueue) async throws(Failure) -> Success
  ) {
    let members = MemberQueue(backend: backend, name: name, maxConcurrentOperationCount: limit)
    let watch = CancellationWatch()
    (self.members, self.watch) = (members, watch)
    operation = TaskOperation(name: name) { () async throws(Failure) -> Success in
      defer { withExtendedLifetime(watch) {} }
      let result = await withTaskCancellationHandler {
        await members.run(body)
      } onCancel: {
        members.cancelAsGroup()
      }
      return try result.get()
    }
    operation.finishes(behind: members)
    // Also a group whose body never runs has members, when somebody adds some.
    watch.begin(operation) { [members] in members.cancelAsGroup() }
  }

  /// Waits for the group, and returns what the body returned: the value of `operation`.
  ///
  /// Throws what the body threw. Throws `CancellationError` when the group was cancelled before its start, and at once
  /// when the waiting task is cancelled; the group then goes on.
  public nonisolated(nonsending) var value: Success {
    get async throws { try await operation.value }
  }

  /// Waits for the group, and returns what the body returned, as `value`.
  /// - Parameter cancelling: whether cancelling the waiting task cancels the group, too.
  public nonisolated(nonsending) func value(cancelling: Bool) async throws -> Success {
    try await operation.value(cancelling: cancelling)
  }

  /// The members' queue: for a limit by priority, for progress, and for what a member adds.
  public var queue: OperationQueue { members }

  /// While true, no member starts, and the group does not end. The body may run: what it adds waits.
  public var isSuspended: Bool {
    get { members.isSuspended }
    set { members.isSuspended = newValue }
  }

  /// Cancels the group's operation and all members.
  public func cancel() { operation.cancel() }
}

/// Adds groups.
extension OperationQueue {
  /// Adds a group to this queue, on this queue's backend, and returns the group. See `OperationGroup`.
  /// - Parameters:
  ///   - name: that of the operation and of the members' queue.
  ///   - priority: as `Operation.queuePriority` of the group's operation.
  ///   - dependencies: what the group's operation waits for.
  ///   - limit: how many members may run at a time.
  ///   - body: adds members to the queue that it gets.
  @discardableResult
  public final func addGroup<Success: Sendable, Failure: Error, Dependencies: Sequence>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    dependencies: Dependencies = EmptyCollection<Operation>(),
    maxConcurrentOperationCount limit: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    body: @escaping @Sendable (OperationQueue) async throws(Failure) -> Success
  ) -> OperationGroup<Success, Failure> where Dependencies.Element: Operation {
    let group = OperationGroup(backend: backend, name: name, maxConcurrentOperationCount: limit, body: body)
    group.operation.addDependencies(dependencies)
    add(group.operation, name: nil, priority: priority)
    return group
  }
}

/// The queue of a group's members. A member that is added after the group was cancelled is cancelled, too.
private final class MemberQueue: OperationQueue, @unchecked Sendable {
  // Sendable: an atomic is all that the class adds.

  private let wasCancelled = Atomic<Bool>(false)

  /// Runs the group's body, and returns when no member is left.
  func run<Success: Sendable, Failure: Error>(
    _ body: @Sendable (OperationQueue) async throws(Failure) -> Success
  ) async -> Result<Success, Failure> {
    let result: Result<Success, Failure>
    do throws(Failure) {
      result = .success(try await body(self))
    } catch {
      cancelAsGroup()
      result = .failure(error)
    }
    // A task of its own: the wait of a cancelled task would end at once, and members may still run.
    await Task(executorPreference: backend.taskExecutor) { _ = await self.drained() }.value
    return result
  }

  func cancelAsGroup() {
    wasCancelled.store(true, ordering: .sequentiallyConsistent)
    cancelAllOperations()
    // A suspended queue keeps even what was cancelled, and so does one that has no place.
    isSuspended = false
    maxConcurrentOperationCount = Self.defaultMaxConcurrentOperationCount
    limits = PriorityLimits()
  }

  /// Whatever is left is cancelled, and needs no place: a limit that comes late would only hold it up.
  override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set {
      super.maxConcurrentOperationCount = newValue
      if isCancelled { super.maxConcurrentOperationCount = Self.defaultMaxConcurrentOperationCount }
    }
  }

  // One that comes late is cancelled before it is added, and never runs. For one that comes at the same time, adding
  // comes before the second look, and cancelling sets the flag first: one of the two sees the other.

  override func addOperation(_ op: Operation) {
    cancelIfLate(op)
    super.addOperation(op)
    cancelIfLate(op)
  }

  override func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
    for operation in ops { cancelIfLate(operation) }
    super.addOperations(ops, waitUntilFinished: false)
    for operation in ops { cancelIfLate(operation) }
    if wait { for operation in ops.reversed() { operation.waitUntilFinished() } }
  }

  override func addBarrier(_ op: Operation) {
    cancelIfLate(op)
    super.addBarrier(op)
    cancelIfLate(op)
  }

  private var isCancelled: Bool { wasCancelled.load(ordering: .sequentiallyConsistent) }
  private func cancelIfLate(_ operation: Operation) { if isCancelled { operation.cancel() } }
}
