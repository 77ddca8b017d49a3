import Operations
import Synchronization

/// A token bucket: lets `rate` things happen in each period, and no more than `burst` of them at once.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func crawl(_ pages: [String], on queue: OperationQueue) async throws {
///   // Ten in a second. After a pause five at once.
///   let bucket = TokenBucket(rate: 10, burst: 5)
///   for page in pages {
///     queue.addTask(conditions: [bucket]) { print("fetches \(page)") }
///   }
///   await queue.drained()
/// }
/// ```
///
/// The bucket begins full, with `burst` tokens, and gets `rate` tokens in each period until it is full again. A task that
/// takes a token before it is there waits. The task that came first goes first. A wait that is cancelled takes nothing, and those behind it move
/// up. The bucket has no thread and no timer: the first in line sleeps.
///
/// As a condition the bucket takes one token for the operation. Counting is exact (the generic cell rate algorithm, ITU-T I.371, on
/// durations): nothing drifts.
public final class TokenBucket<C: Clock>: OperationCondition where C.Duration == Duration {
  private struct State: Sendable {
    /// When the bucket is full again.
    var full: C.Instant
    /// By their numbers. A task that leaves from the middle costs no more than one that leaves from the front.
    var line: [Int: Waiter] = [:]
    /// The number of the first in line, and that of the next to come.
    var first = 0
    var next = 0
  }

  /// A task in line.
  private final class Waiter: Sendable {
    private enum Turn: Sendable {
      case notAskedYet
      case waits(CheckedContinuation<Void, Never>)
      case isFirst
    }

    private let turn = Mutex(Turn.notAskedYet)

    /// Returns when the waiter is the first in line, or has left the line.
    func isFirst() async {
      await withCheckedContinuation { continuation in
        let isFirst = turn.withLock {
          if case .isFirst = $0 { return true }
          $0 = .waits(continuation)
          return false
        }
        if isFirst { continuation.resume() }
      }
    }

    func comesFirst() {
      let waiting = turn.withLock { turn -> CheckedContinuation<Void, Never>? in
        defer { turn = .isFirst }
        if case .waits(let continuation) = turn { return continuation }
        return nil
      }
      waiting?.resume()
    }
  }

  private let state: Mutex<State>
  private let clock: C
  private let tolerance: Duration?
  /// The time in which one token comes.
  private let interval: Duration
  private let burst: Int

  /// - Parameters:
  ///   - rate: how many tokens come in a period: 1 or more.
  ///   - period: longer than 0.
  ///   - burst: how many tokens the bucket holds: 1 or more. More than come in a hundred years count as that many.
  ///   - tolerance: how much later than necessary a waiting task may go on.
  ///   - clock: the clock that measures, such as that of a `DeterministicBackend`.
  public init(
    rate: Int, per period: Duration = .seconds(1), burst: Int = 1, tolerance: Duration? = nil,
    clock: C = ContinuousClock()
  ) {
    require(rate > 0, "the rate of a token bucket is 1 or more, not \(rate)")
    require(period > .zero, "the period of a token bucket is longer than 0, not \(period)")
    require(burst > 0, "the burst of a token bucket is 1 or more, not \(burst)")
    interval = period / rate
    require(interval > .zero, "a token bucket cannot give \(rate) tokens in \(period)")
    self.burst = Int(clamping: min(Int128(burst), max(1, Duration.century.attoseconds / interval.attoseconds)))
    self.tolerance = tolerance
    self.clock = clock
    state = Mutex(State(full: clock.now))
  }

  /// How many tasks are in line.
  public var waitingCount: Int { state.withLock { $0.line.count } }

  /// Takes tokens if they are there and nobody waits. O(1).
  /// - Parameter count: 0 to the burst.
  /// - Returns: whether it took them.
  public func takeNow(_ count: Int = 1) -> Bool {
    check(count)
    if count == 0 { return true }
    return state.withLock { $0.line.isEmpty && remove(count, from: &$0, at: clock.now) }
  }

  /// Waits until the tokens are there, and takes them. The task is suspended meanwhile. O(1) on average.
  ///
  /// Throws `CancellationError` when the task is cancelled: nothing has been taken then.
  /// - Parameter count: 0 to the burst.
  public func take(_ count: Int = 1) async throws {
    check(count)
    try Task.checkCancellation()
    let waiter = Waiter()
    let place = state.withLock { state -> (number: Int, isFirst: Bool)? in
      if state.line.isEmpty {
        if remove(count, from: &state, at: clock.now) { return nil }
        state.first = state.next
      }
      defer { state.next += 1 }
      state.line[state.next] = waiter
      return (state.next, state.next == state.first)
    }
    guard let place else { return }
    defer { leave(place.number) }
    if !place.isFirst {
      await withTaskCancellationHandler {
        await waiter.isFirst()
      } onCancel: {
        waiter.comesFirst()
      }
      try Task.checkCancellation()
    }
    while let instant = missing(count) { try await clock.sleep(until: instant, tolerance: tolerance) }
  }

  public func evaluate() async throws { try await take() }

  /// Takes tokens for the first in line.
  /// - Returns: when they will be there; nil when they have been taken.
  private func missing(_ count: Int) -> C.Instant? {
    state.withLock { state in
      remove(count, from: &state, at: clock.now)
        ? nil : state.full.advanced(by: interval * (count - burst))
    }
  }

  private func remove(_ count: Int, from state: inout State, at now: C.Instant) -> Bool {
    let full = max(state.full, now).advanced(by: interval * count)
    guard now.duration(to: full) <= interval * burst else { return false }
    state.full = full
    return true
  }

  /// Takes a task out of the line. The next one is told when it is the first now.
  private func leave(_ number: Int) {
    let first = state.withLock { state -> Waiter? in
      state.line[number] = nil
      guard number == state.first, !state.line.isEmpty else { return nil }
      // Each number is passed once.
      while true {
        state.first += 1
        if let first = state.line[state.first] { return first }
      }
    }
    first?.comesFirst()
  }

  private func check(_ count: Int) {
    require(
      (0...burst).contains(count), "a token bucket with a burst of \(burst) cannot give \(count) tokens")
  }
}
