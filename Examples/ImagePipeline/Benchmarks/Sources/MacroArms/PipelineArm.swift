import ImagePipeline
import Operations
import Pictures

/// The pipeline of this package, whole or without one of its features.
final class PipelineArm: Arm {
  private let workshop: Workshop
  private let feature: Feature?
  private let pipeline: ImagePipeline

  init(_ workshop: Workshop, on backend: any Backend, without feature: Feature?) {
    var configuration = ImagePipeline.Configuration()
    configuration.fetchLimit = Workshop.fetchLimit
    configuration.prefetchLimit = feature == .limit ? nil : workshop.lowLimit
    configuration.workLimit = Workshop.workLimit
    configuration.memoryLimit = Workshop.memoryLimit
    configuration.coalesces = feature != .coalescing
    (self.workshop, self.feature) = (workshop, feature)
    pipeline = ImagePipeline(transport: workshop.transport, backend: backend, configuration: configuration)
  }

  private final class PipelineAsk: Ask {
    private let task: ImageTask
    init(_ task: ImageTask) { self.task = task }
    func leave() { task.cancel() }
  }

  func ask(_ index: Int, _ urgency: Urgency, _ done: @escaping @Sendable (Picture) -> Void) -> any Ask {
    let urgent = urgency == .visible ? Operation.QueuePriority.high : .veryLow
    let request = ImageRequest(
      url: workshop.url(index), processing: Workshop.processing, priority: feature == .priorities ? .normal : urgent)
    return PipelineAsk(
      pipeline.load(request) { result in
        if case .success(let picture) = result { done(picture) }
      })
  }

  func setSuspended(_ isSuspended: Bool) { pipeline.isSuspended = isSuspended }
  func shutdown() async { await pipeline.shutdown() }

  var decodes: Decodes {
    Decodes(all: pipeline.statistics[.decodes], wasted: pipeline.statistics[.wastedDecodes])
  }
}
