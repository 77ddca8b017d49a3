import Operations
import Synchronization

/// A picture's way through the limits.
final class Job: Sendable {
  let isUrgent: Atomic<Bool>
  init(isUrgent: Bool) { self.isUrgent = Atomic(isUrgent) }
}

/// How many tasks may be in a stage, and how many of them for what is not urgent. A cancelled task leaves the line.
final class TaskLimit: Sendable {
  private struct Waiting {
    var number: Int
    var job: Job
    /// What it was when the task came.
    var wasUrgent: Bool
    var continuation: CheckedContinuation<Bool, any Error>
  }

  private struct State {
    var running = 0
    var low = 0
    var line: [Waiting] = []
    var last = 0
    var isSuspended = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let low: Int?
  private let isOrdered: Bool

  /// - Parameter isOrdered: what is urgent goes first, also what has become urgent while it waits. Otherwise first
  ///   come, first served.
  init(_ limit: Int, low: Int?, isOrdered: Bool) { (self.limit, self.low, self.isOrdered) = (limit, low, isOrdered) }

  func run<Value: Sendable>(_ job: Job, _ body: @Sendable () async throws -> Value) async throws -> Value {
    let isLow = try await enter(job)
    defer { leave(isLow) }
    return try await body()
  }

  /// How many tasks there are.
  struct Count: Equatable {
    var running: Int
    /// Of those that run.
    var low: Int
    var waiting: Int
  }

  var count: Count { state.withLock { Count(running: $0.running, low: $0.low, waiting: $0.line.count) } }

  /// Something has become urgent.
  func reconsider() { resume() }

  /// While true nobody enters.
  func setSuspended(_ isSuspended: Bool) {
    state.withLock { $0.isSuspended = isSuspended }
    resume()
  }

  /// - Returns: whether the task counts as not urgent.
  private func enter(_ job: Job) async throws -> Bool {
    let number = state.withLock {
      $0.last += 1
      return $0.last
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          // `onCancel` finds the task in the line, or this is true already.
          if Task.isCancelled { return true }
          state.line.append(
            Waiting(
              number: number, job: job, wasUrgent: job.isUrgent.load(ordering: .relaxed), continuation: continuation))
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else { resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.line.firstIndex { $0.number == number }.map { state.line.remove(at: $0) }
      }
      waiting?.continuation.resume(throwing: CancellationError())
    }
  }

  private func leave(_ isLow: Bool) {
    state.withLock { state in
      state.running -= 1
      if isLow { state.low -= 1 }
    }
    resume()
  }

  private func resume() {
    while let (waiting, isLow) = state.withLock({ next(&$0) }) { waiting.continuation.resume(returning: isLow) }
  }

  private func next(_ state: inout State) -> (Waiting, isLow: Bool)? {
    guard !state.isSuspended, state.running < limit else { return nil }
    func isUrgent(_ waiting: Waiting) -> Bool {
      isOrdered ? waiting.job.isUrgent.load(ordering: .relaxed) : waiting.wasUrgent
    }
    let hasLow = low.map { state.low < $0 } ?? true
    let urgent = isOrdered ? state.line.firstIndex(where: isUrgent) : nil
    guard let place = urgent ?? state.line.firstIndex(where: { hasLow || isUrgent($0) }) else { return nil }
    let waiting = state.line.remove(at: place)
    let isLow = !isUrgent(waiting)
    state.running += 1
    if isLow { state.low += 1 }
    return (waiting, isLow)
  }
}
