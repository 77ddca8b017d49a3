import Foundation
import ImagePipeline
import Pictures
import Synchronization

/// The pipeline's stages on Foundation's queues: a download, a decoding and a processing for each picture, each of which depends
/// on the one before. Users of a picture share the three. Foundation has no limit for what is less urgent.
public final class FoundationArm: Arm {
  private final class Work: Sendable {
    let fetch: AsyncOperation
    let make: BlockOperation
    let state = Mutex((waiting: [Int: @Sendable (Picture) -> Void](), isOver: false))

    init(fetch: AsyncOperation, make: BlockOperation) { (self.fetch, self.make) = (fetch, make) }
  }

  private let workshop: Workshop
  private let memory = MemoryCache<Int, Picture>(costLimit: 256 << 20)
  private let works = Mutex<[Int: Work]>([:])
  private let prefetches = Mutex<Set<Int>>([])
  private let lastUser = Atomic(0)
  private let (fetching, making) = (OperationQueue(), OperationQueue())

  public init(_ workshop: Workshop) {
    self.workshop = workshop
    fetching.maxConcurrentOperationCount = Workshop.fetchLimit
    making.maxConcurrentOperationCount = 2
  }

  private final class FoundationCell: Cell {
    let left: @Sendable () -> Void
    init(_ left: @escaping @Sendable () -> Void) { self.left = left }
    func leave() { left() }
  }

  public func show(_ index: Int, _ shown: @escaping @Sendable (Picture) -> Void) -> any Cell {
    if let picture = memory.value(for: index) {
      shown(picture)
      return FoundationCell {}
    }
    let user = lastUser.add(1, ordering: .relaxed).newValue
    join(index, isUrgent: true, user, shown)
    return FoundationCell { [self] in leave(index, user) }
  }

  public func prefetch(_ indices: [Int]) {
    for index in indices where memory.value(for: index) == nil {
      guard prefetches.withLock({ $0.insert(index).inserted }) else { continue }
      join(index, isUrgent: false, -1 - index) { _ in }
    }
  }

  public func stopPrefetching(_ indices: [Int]) {
    for index in indices where prefetches.withLock({ $0.remove(index) }) != nil { leave(index, -1 - index) }
  }

  private func join(_ index: Int, isUrgent: Bool, _ user: Int, _ shown: @escaping @Sendable (Picture) -> Void) {
    let (work, isNew) = works.withLock { works in
      if let work = works[index] {
        work.state.withLock { $0.waiting[user] = shown }
        return (work, false)
      }
      let work = make(index)
      work.state.withLock { $0.waiting[user] = shown }
      works[index] = work
      return (work, true)
    }
    if isUrgent {
      work.fetch.queuePriority = .high
      work.make.queuePriority = .high
    } else if isNew {
      work.fetch.queuePriority = .veryLow
      work.make.queuePriority = .veryLow
    }
    guard isNew else { return }
    fetching.addOperation(work.fetch)
    making.addOperation(work.make)
  }

  private func leave(_ index: Int, _ user: Int) {
    let work = works.withLock { works -> Work? in
      guard let work = works[index] else { return nil }
      let isUnused = work.state.withLock { state in
        state.waiting[user] = nil
        return state.waiting.isEmpty
      }
      guard isUnused else { return nil }
      works[index] = nil
      return work
    }
    work?.fetch.cancel()
    work?.make.cancel()
  }

  private func make(_ index: Int) -> Work {
    let bytes = Box<[UInt8]>()
    let fetch = AsyncOperation { [workshop] in
      try await workshop.fetch(index)
    } result: { result in
      bytes.value.withLock { $0 = result }
    }
    let make = BlockOperation()
    let work = Work(fetch: fetch, make: make)
    make.addExecutionBlock { [self, weak make, weak work] in
      guard let work, make?.isCancelled == false, let bytes = bytes.value.withLock({ $0 }),
        let decoded = try? workshop.decode(bytes)
      else { return }
      let picture = workshop.process(decoded)
      guard make?.isCancelled == false else { return }
      memory.store(picture, for: index, cost: picture.byteCount)
      workshop.delivered()
      works.withLock { if $0[index] === work { $0[index] = nil } }
      let waiting = work.state.withLock { state in
        defer { state.waiting = [:] }
        return Array(state.waiting.values)
      }
      for shown in waiting { shown(picture) }
    }
    make.addDependency(fetch)
    // Foundation uses the memory of a dependent that ended, was cancelled and released, while its dependency still runs.
    fetch.dependents.withLock { $0 = [make] }
    return work
  }

  public func setSuspended(_ isSuspended: Bool) {
    fetching.isSuspended = isSuspended
    making.isSuspended = isSuspended
  }

  public func shutdown() async {
    setSuspended(false)
    fetching.cancelAllOperations()
    making.cancelAllOperations()
    while fetching.operationCount + making.operationCount > 0 { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

private final class Box<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}

/// The asynchronous operation that users of Foundation write.
private final class AsyncOperation: Operation, @unchecked Sendable {
  // Sendable: `phase` and `task` are touched under their locks, and the closures never change.
  private enum Phase { case waits, runs, over }

  private let body: @Sendable () async throws -> [UInt8]
  private let result: @Sendable ([UInt8]) -> Void
  private let phase = Mutex(Phase.waits)
  private let task = Mutex<Task<Void, Never>?>(nil)
  /// Kept until this operation has ended.
  let dependents = Mutex<[Operation]>([])

  init(_ body: @escaping @Sendable () async throws -> [UInt8], result: @escaping @Sendable ([UInt8]) -> Void) {
    (self.body, self.result) = (body, result)
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.withLock { $0 == .runs } }
  override var isFinished: Bool { phase.withLock { $0 == .over } }

  override func start() {
    guard !isCancelled else { return enter(.over) }
    enter(.runs)
    let task = Task { [self] in
      if let bytes = try? await body() { result(bytes) }
      enter(.over)
    }
    self.task.withLock { $0 = task }
    if isCancelled { task.cancel() }
  }

  override func cancel() {
    super.cancel()
    task.withLock { $0 }?.cancel()
  }

  private func enter(_ next: Phase) {
    let keys = next == .over ? ["isExecuting", "isFinished"] : ["isExecuting"]
    for key in keys { willChangeValue(forKey: key) }
    phase.withLock { $0 = next }
    for key in keys.reversed() { didChangeValue(forKey: key) }
    if next == .over { dependents.withLock { $0 = [] } }
  }
}
