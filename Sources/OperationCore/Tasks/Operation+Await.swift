import CPlatform
import OperationExecutors
import OperationJobs
import Primitives
import Synchronization

// Tasks wait for operations. No thread waits.

extension Operation {
  /// Waits until the operation has finished, as `waitUntilFinished()` does. The task is suspended meanwhile, and no
  /// thread is blocked.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func load() async {
  ///   let operation = BlockOperation { print("loaded") }
  ///   OperationQueue().addOperation(operation)
  ///   await operation.finished()
  /// }
  /// ```
  ///
  /// Cancelling the waiting task ends the wait at once. A wait that ended early keeps 64 bytes until the operation
  /// finishes. An operation that is never added or started never finishes.
  ///
  /// While the task waits, the operation is at least as urgent as the task, and so is every operation that this one
  /// waits for; also when the task's priority rises later. O(1), and O(operations raised) when there are less urgent
  /// ones. `queuePriority` stays what it is. A dependency that is added later is raised, too. One whose own
  /// `queuePriority` is set to a lower one during the wait may sink.
  ///
  /// Traps in the body of the operation and in child tasks of the body, and where the wait leads back to the operation
  /// whose body waits: `value` throws a ``CircularWait`` there.
  ///
  /// - Parameter cancelling: whether cancelling the waiting task cancels the operation, too. Other tasks may wait for
  ///   the operation, so the default is that it does not.
  /// - Returns: whether the operation has finished. If not, the waiting task was cancelled.
  @discardableResult
  public nonisolated(nonsending) final func finished(cancelling: Bool = false) async -> Bool {
    do throws(CircularWait) { return try await awaitFinish(cancelling: cancelling) } catch {
      misuse(TaskRun.currentOperation ?? self, "\(error)")
    }
  }

  /// Waits as `finished(cancelling:)` does. Throws where the wait leads back to the operation whose body waits.
  @usableFromInline
  nonisolated(nonsending) final func awaitFinish(cancelling: Bool) async throws(CircularWait) -> Bool {
    if hasDeparted { return true }
    if let bodyRun, bodyRun.isCurrent { misuse(self, "the operation waits for itself and would never finish") }
    let mark = try AwaitMark.begin(self)
    defer { mark?.end() }
    let waiter = FinishWaiter(host: DrivenBackends.host(ofTaskWaitingFor: self))
    guard link(waiter) else {
      waiter.end(isFinished: true)
      // Another thread is between the finish and the queue's books: a few instructions.
      Spin.until { hasDeparted }
      return true
    }
    let watched = watchAwait()
    defer { TaskWatch.end(awaiting: watched) }
    return await withTaskPriorityEscalationHandler {
      // Behind the handler's beginning: no raise lies between the two.
      escalate(to: Task.currentPriority)
      return await withTaskCancellationHandler {
        await withUnsafeContinuation { waiter.wait($0) }
      } onCancel: {
        waiter.end(isFinished: false)
        if cancelling { cancel() }
      }
    } onPriorityEscalated: { _, priority in
      escalate(to: priority)
    }
  }

  /// Waits until the operation has finished, also when the waiting task is cancelled.
  nonisolated(nonsending) final func finishedAtLast() async {
    if await finished() { return }
    let waiter = FinishWaiter(host: DrivenBackends.host(ofTaskWaitingFor: self))
    guard link(waiter) else {
      waiter.end(isFinished: true)
      return Spin.until { hasDeparted }
    }
    let watched = watchAwait()
    defer { TaskWatch.end(awaiting: watched) }
    _ = await withUnsafeContinuation { waiter.wait($0) }
  }

  /// What a diagnosis of the calling task names.
  private final func watchAwait() -> UInt? {
    guard cplatform_watches_tasks() else { return nil }
    return TaskWatch.awaiting { "\(self.label): \(self.stateInWords)" }
  }

  /// - Returns: false when the operation has finished.
  private final func link(_ waiter: FinishWaiter) -> Bool {
    // The finish is a change of the same word: it sees this flag, or else `push` sees the finish.
    if !stateNow.has(StateWord.hasDependents) { raise(StateWord.hasDependents) }
    let edge = FinishWaiter.edge(waiter)
    if push(waiter: edge) == .linked { return true }
    FinishWaiter.of(edge).release()
    return false
  }
}

extension OperationQueue {
  /// Waits until the queue has no operation, as `waitUntilAllOperationsAreFinished()` does. The task is suspended
  /// meanwhile, and no thread is blocked.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func printAll() async {
  ///   let queue = OperationQueue()
  ///   for number in 1...3 { queue.addOperation { print(number) } }
  ///   await queue.drained()
  /// }
  /// ```
  ///
  /// Cancelling the waiting task ends the wait at once. Traps in an operation of the same queue, and where the wait
  /// leads back to the operation whose body waits, as in a member of a group of the queue. The queue's operations are
  /// at least as urgent as the task, as with `finished(cancelling:)`.
  ///
  /// - Returns: whether the queue had no operation at an instant during the call. If not, the waiting task was
  ///   cancelled.
  @discardableResult
  public nonisolated(nonsending) final func drained() async -> Bool {
    if TaskRun.currentOperation?.owner === self {
      misuse(self, "drained() in an operation of the same queue would wait for itself")
    }
    checkWaitForAll()
    return await withTaskPriorityEscalationHandler {
      await waitForAllAdded()
    } onPriorityEscalated: { _, priority in
      escalate(to: priority)
    }
  }

  /// All operations are looked at first: one that is waited for earlier may itself wait for the calling body.
  private final func checkWaitForAll() {
    guard let waiting = TaskRun.currentOperation else { return }
    if let circle = WaitSearch.circle(of: waiting, isMember: waiting.isMember, waitingFor: snapshot()) {
      misuse(self, "drained() would wait for itself: \(circle)")
    }
  }

  /// - Returns: false when the waiting task was cancelled.
  private nonisolated(nonsending) final func waitForAllAdded() async -> Bool {
    while registry.pendingCount > 0 {
      escalate(to: Task.currentPriority)
      var bound = Int.max
      // The newest first: when the newest has finished, most others have.
      while let (operation, sequence) = registry.newestPending(below: bound) {
        guard await operation.finished() else { return false }
        bound = sequence
      }
      if bound == .max {
        // Another thread is adding an operation, or takes one out of the list: a few instructions.
        if Task.isCancelled { return false }
        await Task.yield()
      }
    }
    return true
  }
}
