import ImagePipelineOnFoundation
import Operations
import Pictures

/// The same sources as those of `PipelineArm`, with Foundation's queue below them. Foundation has no limit by priority.
final class FoundationPipelineArm: Arm {
  private let workshop: Workshop
  private let feature: Feature?
  private let pipeline: ImagePipeline

  init(_ workshop: Workshop, without feature: Feature?) {
    var configuration = ImagePipeline.Configuration()
    configuration.fetchLimit = Workshop.fetchLimit
    configuration.prefetchLimit = nil
    configuration.workLimit = Workshop.workLimit
    configuration.memoryLimit = Workshop.memoryLimit
    configuration.coalesces = feature != .coalescing
    (self.workshop, self.feature) = (workshop, feature)
    pipeline = ImagePipeline(
      transport: Forwarding(transport: workshop.transport), backend: .dispatch, configuration: configuration)
  }

  /// The transport of the other module, as this one has it.
  private struct Forwarding: Transport {
    let transport: CountingTransport

    func send(
      _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
      chunk: @Sendable ([UInt8]) throws -> Void
    ) async throws {
      do {
        try await transport.send(url: request.url, headers: request.headers) { status, headers in
          try head(TransportHead(status: status, headers: headers))
        } chunk: { bytes in
          try chunk(bytes)
        }
      } catch let failed as PlainTransportError {
        throw TransportError(failed.description)
      }
    }
  }

  private final class PipelineAsk: Ask {
    private let task: ImageTask
    init(_ task: ImageTask) { self.task = task }
    func leave() { task.cancel() }
  }

  func ask(_ index: Int, _ urgency: Urgency, _ done: @escaping @Sendable (Picture) -> Void) -> any Ask {
    var request = ImageRequest(url: workshop.url(index), processing: Workshop.processing)
    if feature != .priorities { request.priority = urgency == .visible ? .high : .veryLow }
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
