import ImagePipeline
import Pictures
import Synchronization

/// Plain Swift concurrency: a task for each picture, shared through a dictionary, and a semaphore for each stage. Prefetching
/// passes a semaphore of its own first, so it cannot hold all places. Tasks that wait for a semaphore are served in order.
public final class PlainArm: Arm {
  private struct Shared {
    var task: Task<Picture, any Error>
    var users: Int
  }

  private let workshop: Workshop
  private let memory = MemoryCache<Int, Picture>(costLimit: 256 << 20)
  private let shared = Mutex<[Int: Shared]>([:])
  private let prefetches = Mutex<[Int: Task<Void, Never>]>([:])
  private let (fetching, prefetching, working) = (
    TaskSemaphore(Workshop.fetchLimit), TaskSemaphore(Workshop.prefetchLimit), TaskSemaphore(2)
  )
  private let gate = SuspensionGate()

  public init(_ workshop: Workshop) { self.workshop = workshop }

  private final class PlainCell: Cell {
    let task: Task<Void, Never>
    init(_ task: Task<Void, Never>) { self.task = task }
    func leave() { task.cancel() }
  }

  public func show(_ index: Int, _ shown: @escaping @Sendable (Picture) -> Void) -> any Cell {
    PlainCell(
      Task(priority: .userInitiated) {
        if let picture = try? await self.picture(index, isPrefetched: false), !Task.isCancelled { shown(picture) }
      })
  }

  public func prefetch(_ indices: [Int]) {
    for index in indices {
      let task = Task(priority: .utility) { _ = try? await self.picture(index, isPrefetched: true) }
      prefetches.withLock { $0.updateValue(task, forKey: index) }?.cancel()
    }
  }

  public func stopPrefetching(_ indices: [Int]) {
    for index in indices { prefetches.withLock { $0.removeValue(forKey: index) }?.cancel() }
  }

  public func setSuspended(_ isSuspended: Bool) { gate.set(isSuspended) }

  public func shutdown() async {
    gate.set(false)
    stopPrefetching(Array(prefetches.withLock { $0.keys }))
    let tasks = shared.withLock { Array($0.values.map(\.task)) }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  private func picture(_ index: Int, isPrefetched: Bool) async throws -> Picture {
    if let picture = memory.value(for: index) { return picture }
    let task = shared.withLock { shared in
      if let entry = shared[index] {
        shared[index]?.users += 1
        return entry.task
      }
      let task = Task { try await self.make(index, isPrefetched: isPrefetched) }
      shared[index] = Shared(task: task, users: 1)
      return task
    }
    let left = Mutex(false)
    let leave: @Sendable () -> Void = {
      guard
        left.withLock({ left in
          defer { left = true }
          return !left
        })
      else { return }
      self.shared.withLock { shared in
        guard let entry = shared[index], entry.task == task else { return }
        shared[index]?.users -= 1
        if entry.users == 1 {
          shared[index] = nil
          task.cancel()
        }
      }
    }
    defer { leave() }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      leave()
    }
  }

  private func make(_ index: Int, isPrefetched: Bool) async throws -> Picture {
    try await gate.pass()
    let bytes = try await prefetching.holding(isPrefetched) {
      try await self.fetching.holding(true) { try await self.workshop.fetch(index) }
    }
    try await gate.pass()
    let picture = try await working.holding(true) {
      let picture = self.workshop.process(try self.workshop.decode(bytes))
      try Task.checkCancellation()
      return picture
    }
    memory.store(picture, for: index, cost: picture.byteCount)
    workshop.delivered()
    return picture
  }
}

/// A limit for tasks: first come, first served. A cancelled task leaves the line.
final class TaskSemaphore: Sendable {
  private struct State {
    var free: Int
    var line: [(number: Int, task: CheckedContinuation<Void, any Error>)] = []
    var last = 0
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>
  init(_ limit: Int) { state = Mutex(State(free: limit)) }

  func holding<Value: Sendable>(_ isNeeded: Bool, _ body: @Sendable () async throws -> Value) async throws -> Value {
    guard isNeeded else { return try await body() }
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws {
    let number = state.withLock {
      $0.last += 1
      return $0.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          guard state.free == 0 else {
            state.free -= 1
            return .success(())
          }
          state.line.append((number, continuation))
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard let place = state.line.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.line.remove(at: place).task
      }
      waiting?.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      guard state.line.isEmpty else { return state.line.removeFirst().task }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}

/// Closed while the user scrolls fast.
final class SuspensionGate: Sendable {
  private struct State {
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func set(_ isClosed: Bool) {
    let waiting = state.withLock { state in
      state.isClosed = isClosed
      guard !isClosed else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for task in waiting { task.resume() }
  }

  func pass() async throws {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.isClosed { state.waiting.append(continuation) }
        return !state.isClosed
      }
      if isOpen { continuation.resume() }
    }
    try Task.checkCancellation()
  }
}
