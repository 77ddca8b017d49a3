import Synchronization

/// Captured by the body of an operation. An operation that never runs its body releases it, and then the waits end.
final class Delivery<Success: Sendable>: Sendable {
  let promise: Promise<Success>

  init(_ promise: Promise<Success>) { self.promise = promise }
  deinit { promise.deliver(.failure(CancellationError())) }
}

/// A result that tasks wait for. A wait lends no priority: the priority of a request is what its user says.
final class Promise<Success: Sendable>: Sendable {
  private enum Wait: Sendable {
    case waits(CheckedContinuation<Result<Success, any Error>, Never>)
    /// It was left before the task was suspended.
    case left
  }

  private struct State: Sendable {
    var result: Result<Success, any Error>?
    var waits: [Int: Wait] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// - Returns: the number of a new wait.
  func number() -> Int {
    state.withLock {
      $0.last += 1
      return $0.last
    }
  }

  func wait(_ number: Int) async throws -> Success {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result = state.withLock { state -> Result<Success, any Error>? in
          if state.waits.removeValue(forKey: number) != nil { return .failure(CancellationError()) }
          if state.result == nil { state.waits[number] = .waits(continuation) }
          return state.result
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      leave(number)
    }
    state.withLock { _ = $0.waits.removeValue(forKey: number) }
    return try result.get()
  }

  func leave(_ number: Int) {
    let wait = state.withLock { $0.waits.updateValue(.left, forKey: number) }
    if case .waits(let continuation)? = wait { continuation.resume(returning: .failure(CancellationError())) }
  }

  /// The first result counts.
  func deliver(_ result: Result<Success, any Error>) {
    let waits = state.withLock { state -> [Wait] in
      guard state.result == nil else { return [] }
      state.result = result
      let waits = state.waits.filter { if case .waits = $0.value { true } else { false } }
      for number in waits.keys { state.waits[number] = nil }
      return Array(waits.values)
    }
    for case .waits(let continuation) in waits { continuation.resume(returning: result) }
  }
}
