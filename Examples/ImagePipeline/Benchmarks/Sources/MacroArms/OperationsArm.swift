import ImagePipeline
import Operations
import Pictures
import Synchronization

/// This library without the pipeline: one queue with a limit, and one asynchronous operation for each picture, that
/// fetches, decodes and processes. Those who want the same picture share the operation.
final class OperationsArm: Arm {
  private struct Work {
    var operation: TaskOperation<Void, any Error>
    var number: Int
    var users: [Int: @Sendable (Picture) -> Void]
  }

  private struct State {
    var works: [Int: Work] = [:]
    var last = 0
  }

  private let workshop: Workshop
  private let memory = MemoryCache<Int, Picture>(costLimit: Workshop.memoryLimit)
  private let queue: OperationQueue
  private let state = Mutex(State())

  init(_ workshop: Workshop, on backend: any Backend) {
    self.workshop = workshop
    queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = Workshop.fetchLimit
  }

  private final class OperationsAsk: Ask {
    private let left: @Sendable () -> Void
    init(_ left: @escaping @Sendable () -> Void) { self.left = left }
    func leave() { left() }
  }

  func ask(_ index: Int, _ urgency: Urgency, _ done: @escaping @Sendable (Picture) -> Void) -> any Ask {
    if let picture = memory.value(for: index) {
      done(picture)
      return Answered()
    }
    let user = state.withLock { state in
      state.last += 1
      let user = state.last
      if state.works[index] != nil {
        state.works[index]?.users[user] = done
        if urgency == .visible { state.works[index]?.operation.queuePriority = .high }
      } else {
        // The body waits for this lock before it looks for its users.
        let operation = queue.addTask(priority: urgency == .visible ? .high : .veryLow) { [self] in
          try await run(index, user)
        }
        state.works[index] = Work(operation: operation, number: user, users: [user: done])
      }
      return user
    }
    return OperationsAsk { [self] in leave(index, user) }
  }

  private func run(_ index: Int, _ number: Int) async throws {
    let picture = workshop.process(try workshop.decode(try await workshop.fetch(index)))
    try Task.checkCancellation()
    memory.store(picture, for: index, cost: picture.byteCount)
    workshop.delivered()
    let users = state.withLock { state in
      guard state.works[index]?.number == number else { return [@Sendable (Picture) -> Void]() }
      return state.works.removeValue(forKey: index).map { Array($0.users.values) } ?? []
    }
    for done in users { done(picture) }
  }

  private func leave(_ index: Int, _ user: Int) {
    let unused = state.withLock { state -> TaskOperation<Void, any Error>? in
      guard state.works[index]?.users.removeValue(forKey: user) != nil, state.works[index]?.users.isEmpty == true
      else { return nil }
      return state.works.removeValue(forKey: index)?.operation
    }
    unused?.cancel()
  }

  func setSuspended(_ isSuspended: Bool) { queue.isSuspended = isSuspended }

  func shutdown() async {
    queue.isSuspended = false
    queue.cancelAllOperations()
    await queue.drained()
  }

  var decodes: Decodes { workshop.decodes }
}
