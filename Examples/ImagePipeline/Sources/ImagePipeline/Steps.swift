import OperationComposition
import Pictures
import Synchronization

extension Coalescer {
  /// As `value(for:)`, for a step in the body of another step. The cancelling of the waiting task leaves in that very
  /// call, and does not wait until a thread is free for the task: so it passes through all steps at once, down to the
  /// connection.
  func step(for key: Key, _ body: @escaping @Sendable () async throws -> Success) async throws -> Success {
    try Task.checkCancellation()
    let request = request(for: key, body)
    defer { request.cancel() }
    return try await withTaskCancellationHandler {
      try await request.value
    } onCancel: {
      request.cancel()
    }
  }
}

/// A picture that counts as wasted when nobody has wanted it by the time that it is let go.
final class DecodedPicture: Sendable {
  let picture: Picture
  private let statistics: PipelineStatistics
  private let hasBeenWanted = Atomic(false)

  init(_ picture: Picture, _ statistics: PipelineStatistics) { (self.picture, self.statistics) = (picture, statistics) }
  deinit { if !hasBeenWanted.load(ordering: .acquiring) { statistics.add(1, to: .wastedDecodes) } }

  func isWanted() { hasBeenWanted.store(true, ordering: .releasing) }
}

/// Who reads `updates(for:)`. Under the lock, so that no progress comes behind the picture.
final class UpdateReader: Sendable {
  private let continuation: Mutex<AsyncThrowingStream<ImageUpdate, any Error>.Continuation?>

  init(_ continuation: AsyncThrowingStream<ImageUpdate, any Error>.Continuation) {
    self.continuation = Mutex(continuation)
  }

  func progress(_ received: Int, _ expected: Int?) {
    continuation.withLock { _ = $0?.yield(.progress(received: received, expected: expected)) }
  }

  func finish(_ result: Result<Picture, any Error>) {
    let continuation = continuation.withLock { $0.take() }
    switch result {
    case .success(let picture):
      continuation?.yield(.picture(picture))
      continuation?.finish()
    case .failure(let error): continuation?.finish(throwing: error)
    }
  }
}
