import Operations
import Pictures
import Synchronization

extension ImagePipeline {
  /// Asks for a picture and calls `completion` once, on a thread of the backend.
  @discardableResult
  public func load(
    _ request: ImageRequest, completion: @escaping @Sendable (Result<Picture, any Error>) -> Void
  ) -> ImageTask {
    let task = task(for: request)
    Task(executorPreference: backend.taskExecutor) {
      do { completion(.success(try await task.value)) } catch { completion(.failure(error)) }
    }
    return task
  }

  /// A plain operation whose result is the picture: give it dependencies, and add it to any queue.
  public func operation(for request: ImageRequest) -> TaskOperation<Picture, any Error> {
    let operation = TaskOperation { [self] in try await image(for: request) }
    operation.name = Address.shown(request.url)
    return operation
  }

  /// The progress of a picture's download, and then the picture. A reader that stops reading leaves.
  public func updates(for request: ImageRequest) -> AsyncThrowingStream<ImageUpdate, any Error> {
    // A reader that is slow misses progress, and never the picture: so a body of many small parts fills no memory.
    let (stream, continuation) = AsyncThrowingStream<ImageUpdate, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(64))
    let reader = UpdateReader(continuation)
    let file = key(for: request).file
    let number = listeners.add(file) { reader.progress($0, $1) }
    let task = task(for: request)
    let waiting = Task(executorPreference: backend.taskExecutor) { [listeners] in
      defer { listeners.remove(number, from: file) }
      do {
        reader.finish(.success(try await task.value))
      } catch {
        reader.finish(.failure(error))
      }
    }
    continuation.onTermination = { reason in
      guard case .cancelled = reason else { return }
      task.cancel()
      waiting.cancel()
    }
    return stream
  }

  /// Fetches pictures that will be wanted soon.
  public func prefetcher() -> ImagePrefetcher { ImagePrefetcher(self) }

  func key(for request: ImageRequest) -> Key {
    let number = configuration.coalesces ? 0 : lastNumber.add(1, ordering: .relaxed).newValue
    var (url, fields) = (Address.shown(request.url), Self.fields(request.fields))
    if let address = Address(request.url) {
      url = address.text
      fields["authorization"] = fields["authorization"] ?? address.authorization
    }
    return Key(url: url, fields: fields, processing: request.processing, number: number)
  }

  /// Fields with names in lower case, without those that are the pipeline's own.
  static func fields(_ fields: [String: String]) -> [String: String] {
    let own = ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]
    return Dictionary(fields.map { ($0.lowercased(), $1) }) { $1 }.filter { !own.contains($0.key) }
  }

  /// The key of a picture in memory.
  func kept(_ key: Key) -> Key {
    Key(url: key.url, fields: key.fields, processing: key.processing, number: 0)
  }
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
