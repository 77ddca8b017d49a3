import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Synchronization

/// This library without the pipeline: one queue, and one operation for each picture, that does everything.
public final class OperationsArm: Arm {
  private let workshop: Workshop
  private let memory = MemoryCache<Int, Picture>(costLimit: 256 << 20)
  private let queue: OperationQueue
  private let pictures: Coalescer<Int, Picture>
  private let prefetches = Mutex<[Int: CoalescedRequest<Picture>]>([:])

  public init(_ workshop: Workshop, backend: any Backend) {
    self.workshop = workshop
    queue = OperationQueue(on: backend)
    queue.maxConcurrentOperationCount = Workshop.fetchLimit
    queue.limits[below: .normal] = Workshop.prefetchLimit
    pictures = Coalescer(queue: queue)
  }

  private final class OperationsCell: Cell {
    let request: CoalescedRequest<Picture>?
    init(_ request: CoalescedRequest<Picture>?) { self.request = request }
    func leave() { request?.cancel() }
  }

  private func request(_ index: Int, _ priority: Operation.QueuePriority) -> CoalescedRequest<Picture> {
    pictures.request(for: index, priority: priority) { [workshop, memory] in
      let picture = workshop.process(try workshop.decode(try await workshop.fetch(index)))
      try Task.checkCancellation()
      memory.store(picture, for: index, cost: picture.byteCount)
      workshop.delivered()
      return picture
    }
  }

  public func show(_ index: Int, _ shown: @escaping @Sendable (Picture) -> Void) -> any Cell {
    if let picture = memory.value(for: index) {
      shown(picture)
      return OperationsCell(nil)
    }
    let request = request(index, .high)
    Task(executorPreference: queue.backend.taskExecutor) {
      if let picture = try? await request.value { shown(picture) }
    }
    return OperationsCell(request)
  }

  public func prefetch(_ indices: [Int]) {
    for index in indices where memory.value(for: index) == nil {
      let request = request(index, .veryLow)
      prefetches.withLock { $0.updateValue(request, forKey: index) }?.cancel()
    }
  }

  public func stopPrefetching(_ indices: [Int]) {
    for index in indices { prefetches.withLock { $0.removeValue(forKey: index) }?.cancel() }
  }

  public func setSuspended(_ isSuspended: Bool) { queue.isSuspended = isSuspended }

  public func shutdown() async {
    queue.isSuspended = false
    queue.cancelAllOperations()
    await queue.drained()
  }
}
