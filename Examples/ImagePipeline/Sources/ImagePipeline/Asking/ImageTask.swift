import OperationComposition
import Operations
import Pictures
import Synchronization

/// One request for a picture. It leaves when it is cancelled, and when nobody holds it any more.
public final class ImageTask: Sendable {
  private enum Work: Sendable {
    case done(Result<Picture, any Error>)
    case shared(CoalescedRequest<Picture>)
  }

  public let request: ImageRequest
  private let work: Work

  init(_ result: Result<Picture, any Error>, _ request: ImageRequest) {
    (work, self.request) = (.done(result), request)
  }
  init(_ shared: CoalescedRequest<Picture>, _ request: ImageRequest) {
    (work, self.request) = (.shared(shared), request)
  }

  /// How urgent the request is. A change reaches the step that is under way at once.
  public var priority: Operation.QueuePriority {
    get { if case .shared(let shared) = work { shared.priority } else { request.priority } }
    set { if case .shared(let shared) = work { shared.priority = newValue } }
  }

  /// Leaves. A wait for `value` ends with a `CancellationError` at once.
  public func cancel() { if case .shared(let shared) = work { shared.cancel() } }

  /// The picture. Cancelling the waiting task ends the wait; the request stays.
  public var value: Picture {
    get async throws {
      switch work {
      case .done(let result): return try result.get()
      case .shared(let shared):
        do { return try await shared.value } catch {
          // The work was cancelled, by a memory warning or the end. Nobody can get more of it: the request leaves.
          if error is CancellationError, !Task.isCancelled { shared.cancel() }
          throw error
        }
      }
    }
  }
}

/// Pictures that will be wanted soon. They are fetched, decoded and kept in memory, with a low priority. A request for
/// one of them raises it.
public final class ImagePrefetcher: Sendable {
  /// One picture. It leaves the list when its work has ended, so nothing keeps a picture that the cache has dropped.
  private struct Entry {
    /// Tells it from a later entry of the same picture.
    var number: Int
    /// Nil for a moment: the request is being made.
    var task: ImageTask?
  }

  private struct State {
    var entries: [ImageRequest: Entry] = [:]
    var last = 0
    var priority = Operation.QueuePriority.veryLow

    var tasks: [ImageTask] { entries.values.compactMap(\.task) }
  }

  private let pipeline: ImagePipeline
  private let state = Mutex(State())

  init(_ pipeline: ImagePipeline) { self.pipeline = pipeline }
  deinit { stopAll() }

  /// How urgent all of them are, also those that have not begun.
  public var priority: Operation.QueuePriority {
    get { state.withLock { $0.priority } }
    set {
      let tasks = state.withLock { state in
        state.priority = newValue
        return state.tasks
      }
      for task in tasks { settle(task, newValue) }
    }
  }

  /// Several threads may set the priority of a task. Each looks again behind its own store, so the last value counts.
  private func settle(_ task: ImageTask, _ priority: Operation.QueuePriority) {
    var (wanted, applied): (Operation.QueuePriority, Operation.QueuePriority?) = (priority, nil)
    while applied != wanted {
      task.priority = wanted
      (applied, wanted) = (wanted, self.priority)
    }
  }

  /// How many pictures are under way.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Begins with those that are not under way yet.
  public func start(_ requests: [ImageRequest]) {
    for request in requests {
      let key = key(request)
      let begun = state.withLock { state -> (Int, Operation.QueuePriority)? in
        guard state.entries[key] == nil else { return nil }
        state.last += 1
        state.entries[key] = Entry(number: state.last)
        return (state.last, state.priority)
      }
      guard let (number, priority) = begun else { continue }
      var wanted = request
      wanted.priority = priority
      let task = pipeline.load(wanted) { [weak self] _ in
        self?.state.withLock { state in
          if state.entries[key]?.number == number { state.entries[key] = nil }
        }
      }
      let now = state.withLock { state -> Operation.QueuePriority? in
        guard state.entries[key]?.number == number else { return nil }
        state.entries[key]?.task = task
        return state.priority
      }
      guard let now else {
        // Stopped meanwhile, or over.
        task.cancel()
        continue
      }
      // The priority may have changed meanwhile.
      if now != priority { settle(task, now) }
    }
  }

  /// Leaves these, whether they have begun or not.
  public func stop(_ requests: [ImageRequest]) {
    for request in requests { state.withLock { $0.entries.removeValue(forKey: key(request))?.task }?.cancel() }
  }

  public func stopAll() {
    let tasks = state.withLock { state in
      defer { state.entries = [:] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  private func key(_ request: ImageRequest) -> ImageRequest {
    ImageRequest(url: request.url, processing: request.processing, fields: request.fields)
  }
}

/// Who wants to hear of the progress of downloads.
final class ProgressListeners: Sendable {
  private struct State {
    var last = 0
    var listeners: [String: [Int: @Sendable (Int, Int?) -> Void]] = [:]
  }

  private let state = Mutex(State())

  /// - Returns: the listener's number.
  func add(_ url: String, _ listener: @escaping @Sendable (Int, Int?) -> Void) -> Int {
    state.withLock { state in
      state.last += 1
      state.listeners[url, default: [:]][state.last] = listener
      return state.last
    }
  }

  func remove(_ number: Int, from url: String) {
    state.withLock { state in
      state.listeners[url]?[number] = nil
      if state.listeners[url]?.isEmpty == true { state.listeners[url] = nil }
    }
  }

  func report(_ received: Int, _ expected: Int?, of url: String) {
    let listeners = state.withLock { $0.listeners[url].map { Array($0.values) } ?? [] }
    for listener in listeners { listener(received, expected) }
  }
}
