import ImagePipeline
import Operations
import Pictures
import Synchronization

/// The pipeline, whole or without one of its features.
public final class PipelineArm: Arm {
  public enum Ablation: String, Sendable, CaseIterable {
    case none
    case priorities
    case limit
    case coalescing
    case cancelling
    case suspension
  }

  private let ablation: Ablation
  private let workshop: Workshop
  private let prefetcher: ImagePrefetcher
  public let pipeline: ImagePipeline
  /// Requests that nobody cancels.
  private let kept = Mutex<[ImageTask]>([])

  public init(_ workshop: Workshop, backend: any Backend, without ablation: Ablation) {
    var configuration = ImagePipeline.Configuration()
    configuration.fetchLimit = Workshop.fetchLimit
    configuration.prefetchLimit = ablation == .limit ? nil : Workshop.prefetchLimit
    configuration.coalesces = ablation != .coalescing
    (self.workshop, self.ablation) = (workshop, ablation)
    pipeline = ImagePipeline(transport: workshop.transport, backend: backend, configuration: configuration)
    prefetcher = pipeline.prefetcher()
    if ablation == .priorities { prefetcher.priority = .normal }
  }

  private func request(_ index: Int, _ priority: Operation.QueuePriority) -> ImageRequest {
    ImageRequest(
      url: workshop.url(index), processing: Workshop.processing, priority: ablation == .priorities ? .normal : priority)
  }

  private final class PipelineCell: Cell {
    let task: ImageTask?
    init(_ task: ImageTask?) { self.task = task }
    func leave() { task?.cancel() }
  }

  public func show(_ index: Int, _ shown: @escaping @Sendable (Picture) -> Void) -> any Cell {
    let task = pipeline.load(request(index, .high)) { if case .success(let picture) = $0 { shown(picture) } }
    guard ablation == .cancelling else { return PipelineCell(task) }
    kept.withLock { $0.append(task) }
    return PipelineCell(nil)
  }

  public func prefetch(_ indices: [Int]) { prefetcher.start(indices.map { request($0, .veryLow) }) }

  public func stopPrefetching(_ indices: [Int]) {
    if ablation != .cancelling { prefetcher.stop(indices.map { request($0, .veryLow) }) }
  }

  public func setSuspended(_ isSuspended: Bool) { if ablation != .suspension { pipeline.isSuspended = isSuspended } }

  public func shutdown() async { await pipeline.shutdown() }
}
