import ImagePipeline
import Operations
import Pictures
import Synchronization

/// Plain Swift concurrency: a task for each picture, shared through the dictionary of an actor, and a limit for each
/// stage.
final class TasksArm: Arm {
  private let workshop: Workshop
  private let memory: MemoryCache<Int, Picture>
  private let store: PictureStore
  /// What shutting down waits for.
  private let asks = Mutex<[Int: Task<Void, Never>]>([:])
  private let last = Atomic(0)

  init(_ workshop: Workshop, isOrdered: Bool) {
    self.workshop = workshop
    memory = MemoryCache(costLimit: Workshop.memoryLimit)
    store = PictureStore(workshop, memory, isOrdered: isOrdered)
  }

  private final class TaskAsk: Ask {
    private let task: Task<Void, Never>
    init(_ task: Task<Void, Never>) { self.task = task }
    func leave() { task.cancel() }
  }

  func ask(_ index: Int, _ urgency: Urgency, _ done: @escaping @Sendable (Picture) -> Void) -> any Ask {
    if let picture = memory.value(for: index) {
      done(picture)
      return Answered()
    }
    let number = last.add(1, ordering: .relaxed).newValue
    let task = asks.withLock { asks in
      let task = Task(priority: urgency == .visible ? .userInitiated : .utility) { [self] in
        if let picture = try? await store.picture(index, urgency), !Task.isCancelled { done(picture) }
        self.asks.withLock { $0[number] = nil }
      }
      asks[number] = task
      return task
    }
    return TaskAsk(task)
  }

  func setSuspended(_ isSuspended: Bool) { store.setSuspended(isSuspended) }

  func shutdown() async {
    store.setSuspended(false)
    let tasks = asks.withLock { Array($0.values) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await store.drained()
  }

  var decodes: Decodes { workshop.decodes }
}

/// Pictures under way. Those who want the same one share its task; the task is cancelled when the last of them leaves.
private actor PictureStore {
  private struct Entry {
    let task: Task<Picture, any Error>
    let job: Job
    var users: Set<Int>
  }

  private let workshop: Workshop
  private let memory: MemoryCache<Int, Picture>
  private let isOrdered: Bool
  private let (fetching, decoding, processing): (TaskLimit, TaskLimit, TaskLimit)
  private var entries: [Int: Entry] = [:]
  private var last = 0
  /// Cancelled tasks that have not ended.
  private var ending: [Int: Task<Picture, any Error>] = [:]

  init(_ workshop: Workshop, _ memory: MemoryCache<Int, Picture>, isOrdered: Bool) {
    (self.workshop, self.memory, self.isOrdered) = (workshop, memory, isOrdered)
    fetching = TaskLimit(Workshop.fetchLimit, low: workshop.lowLimit, isOrdered: isOrdered)
    decoding = TaskLimit(Workshop.workLimit, low: nil, isOrdered: isOrdered)
    processing = TaskLimit(Workshop.workLimit, low: nil, isOrdered: isOrdered)
  }

  nonisolated func setSuspended(_ isSuspended: Bool) {
    for limit in [fetching, decoding, processing] { limit.setSuspended(isSuspended) }
  }

  func picture(_ index: Int, _ urgency: Urgency) async throws -> Picture {
    try Task.checkCancellation()
    if let picture = memory.value(for: index) { return picture }
    last += 1
    let user = last
    let task = join(index, urgency, user)
    return try await withTaskCancellationHandler {
      let result = await task.result
      leave(index, user)
      return try result.get()
    } onCancel: {
      Task { await self.leave(index, user) }
    }
  }

  private func join(_ index: Int, _ urgency: Urgency, _ user: Int) -> Task<Picture, any Error> {
    if let entry = entries[index] {
      entries[index]?.users.insert(user)
      if urgency == .visible, isOrdered {
        entry.job.isUrgent.store(true, ordering: .relaxed)
        for limit in [fetching, decoding, processing] { limit.reconsider() }
      }
      return entry.task
    }
    let job = Job(isUrgent: urgency == .visible)
    let task = Task { try await self.make(index, job) }
    entries[index] = Entry(task: task, job: job, users: [user])
    return task
  }

  private func leave(_ index: Int, _ user: Int) {
    guard entries[index]?.users.remove(user) != nil, let entry = entries[index], entry.users.isEmpty else { return }
    entries[index] = nil
    entry.task.cancel()
    ending[user] = entry.task
    Task {
      _ = await entry.task.result
      ended(user)
    }
  }

  private func ended(_ user: Int) { ending[user] = nil }

  /// Returns when nothing runs any more. All users have left.
  func drained() async {
    while let task = entries.values.first?.task ?? ending.values.first {
      _ = await task.result
      await Task.yield()
    }
  }

  private nonisolated func make(_ index: Int, _ job: Job) async throws -> Picture {
    let bytes = try await fetching.run(job) { [workshop] in try await workshop.fetch(index) }
    let decoded = try await decoding.run(job) { [workshop] in try workshop.decode(bytes) }
    let picture = try await processing.run(job) { [workshop] in workshop.process(decoded) }
    try Task.checkCancellation()
    memory.store(picture, for: index, cost: picture.byteCount)
    workshop.delivered()
    return picture
  }
}
