import Operations
import TestSupport

/// What the fake network and the fake disk know.
final class FakeServer: Sendable {
  let meter = ConcurrencyMeter()
  let requests = Monitor<[String: Int]>([:])
  let broken = Monitor<Set<String>>([])
  /// Closed: downloads hang until it opens or they are cancelled.
  let gate = Gate()

  /// Calls back on a thread of its own, as a network library does; nil when the download failed or was cancelled.
  func fetch(
    _ url: String, for operation: Operation, _ done: @escaping @Sendable (String?) -> Void
  ) {
    requests.with { $0[url, default: 0] += 1 }
    meter.enter()
    startThread { [self] in
      while !gate.isOpen && !operation.isCancelled { gate.pass(seconds: 0.002) }
      meter.leave()
      done(operation.isCancelled || broken.value.contains(url) ? nil : "image of \(url)")
    }
  }
}

/// The image loader of the tutorials: memory cache, disk cache, one operation for each URL, six downloads at once.
final class ImageLoader: Sendable {
  typealias Handler = @Sendable (String?) -> Void

  private final class ImageOperation: AsynchronousOperation, @unchecked Sendable {
    // Invariant: `handlers` belongs to the loader's lock; the rest is constant.
    let url: String
    var handlers: [Handler]
    private let loader: ImageLoader

    init(_ url: String, _ handler: @escaping Handler, loader: ImageLoader) {
      self.url = url
      self.handlers = [handler]
      self.loader = loader
      super.init()
    }

    override func main() {
      loader.server.fetch(url, for: self) { [self] image in
        loader.ended(self, image: image)
        finish()
      }
    }
  }

  private struct State {
    var memory: [String: String] = [:]
    var disk: [String: String] = [:]
    var operations: [String: ImageOperation] = [:]
  }

  private let state = Monitor(State())
  private let server: FakeServer
  /// Operations whose completion block has not run yet.
  private let unsettled = Monitor(0)
  let queue: OperationQueue

  init(server: FakeServer, backend: any Backend) {
    self.server = server
    queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = 6
  }

  var inMemory: Int { state.value.memory.count }

  /// Joins the download of the same URL when there is one. Returns the operation to cancel or to make more urgent.
  @discardableResult
  func load(_ url: String, urgent: Bool = false, _ handler: @escaping Handler) -> Operation? {
    var cached: String?
    var added: ImageOperation?
    let operation: Operation? = state.with { state in
      if let image = state.memory[url] ?? state.disk[url] {
        state.memory[url] = image
        cached = image
        return nil
      }
      if let running = state.operations[url], !running.isCancelled {
        running.handlers.append(handler)
        return running
      }
      let new = ImageOperation(url, handler, loader: self)
      new.queuePriority = urgent ? .veryHigh : .normal
      unsettled.with { $0 += 1 }
      new.completionBlock = { [self, new] in
        ended(new, image: nil)
        unsettled.with { $0 -= 1 }
      }
      state.operations[url] = new
      added = new
      return new
    }
    if let cached { handler(cached) }
    if let added { queue.addOperation(added) }
    return operation
  }

  /// Waits until everything that was asked for has been answered.
  func settle() throws {
    try queue.drainInTime("the loader's queue")
    guard unsettled.wait(until: { $0 == 0 }) else {
      throw TimedOut("the loader's completion blocks", seconds: patience, file: #fileID, line: #line)
    }
  }

  /// Drops what can be loaded again.
  func memoryWarning() {
    queue.cancelAllOperations()
    state.with { $0.memory = [:] }
  }

  /// Called with the result, and once more by the completion block: for an operation cancelled before it started,
  /// that is the only call.
  private func ended(_ operation: ImageOperation, image: String?) {
    let handlers = state.with { state in
      if state.operations[operation.url] === operation { state.operations[operation.url] = nil }
      if let image {
        state.memory[operation.url] = image
        state.disk[operation.url] = image
      }
      defer { operation.handlers = [] }
      return operation.handlers
    }
    for handler in handlers { handler(image) }
  }
}
