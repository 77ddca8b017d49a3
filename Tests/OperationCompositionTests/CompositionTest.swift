import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport

struct Refused: Error, Equatable {
  var number = 0
}

/// A body on the virtual clock of a deterministic backend, whose time goes on by itself where nothing else is said.
func inVirtualTime<Result: Sendable>(
  seed: UInt64, advancesByItself: Bool = true, _ body: @escaping @Sendable (DeterministicBackend) async throws -> Result
) async throws -> Result {
  try await AsynchronousTest.run {
    try await withDeterministicOperations(seed: seed, advancesByItself: advancesByItself) { backend in
      try await body(backend)
    }
  }
}

let seeds: [UInt64] = Array(1...20)

/// Backends on which a body that computes keeps its worker.
let realBackends = allBackends.filter { $0.name != "deterministic" }

/// A clock as users write them: it asks another one.
struct WrittenClock: Clock {
  typealias Instant = ContinuousClock.Instant

  var now: Instant { .now }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
  }
}

/// A clock whose sleepers wait for nothing of Swift's or of Dispatch's: each has a thread. Cancelling wakes none.
struct ThreadClock: Clock {
  typealias Instant = ContinuousClock.Instant

  var now: Instant { .now }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await withUnsafeContinuation { continuation in
      startThread {
        while .now < deadline { giveOthersAChance() }
        continuation.resume()
      }
    }
  }
}

/// A clock that goes on when somebody sleeps, and by `lateness` more.
final class SteppedClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let lateness: Duration
  private let state = Mutex(Duration.zero)

  init(lateness: Duration) { self.lateness = lateness }

  var time: Duration { state.withLock { $0 } }
  var now: Instant { Instant(offset: time) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func goOn(_ duration: Duration) { state.withLock { $0 += duration } }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    state.withLock { if $0 < deadline.offset { $0 = deadline.offset + lateness } }
  }
}
