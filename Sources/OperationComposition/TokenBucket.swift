import OperationCore
import OperationExecutors
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
/// The bucket begins full, with `burst` tokens, and gets `rate` tokens in each period until it is full again. A task
/// that takes a token before it is there waits. The task that came first goes first, whatever its priority: so each
/// task gets its token after a time that it can count. A wait that is cancelled takes nothing, and those behind it move
/// up.
///
/// Where the most urgent operation shall have the next token, let a queue choose: operations of a queue with a limit of
/// 1, which `take()` the token in their bodies.
///
/// A waiting operation has the tokens of exact instants (the generic cell rate algorithm, ITU-T I.371, on durations),
/// however late each wait ends. A task that comes back within the time of one token has not paused, so what came
/// meanwhile is still there for it. So nothing drifts. What came more than a tenth of a second ago, as while the
/// process stood still, is lost beyond the burst. The line needs no thread of a backend: a task whose backend is busy
/// holds up nobody behind it.
///
/// As a condition the bucket takes one token for the operation.
public final class TokenBucket<C: Clock>: OperationCondition where C.Duration == Duration {
  private struct State: Sendable {
    /// When the bucket is full again.
    var full: C.Instant
    /// By their numbers. A task that leaves from the middle costs no more than one that leaves from the front.
    var line: [Int: Waiter] = [:]
    /// The number of the first in line, and that of the next to come.
    var first = 0
    var next = 0
    /// When the first in line is served. Nil while nobody is in line, and while it is being found out.
    var serving: C.Instant?
    /// The alarm of that instant has this number. The alarm itself is there as soon as it is set.
    var alarmNumber = 0
    var alarm: Alarm?
    /// When a task last went on that had waited.
    var wentOn: C.Instant?

    /// Takes the first one out of the line.
    mutating func removeFirst() {
      line[first] = nil
      // Each number is passed once.
      while !line.isEmpty, line[first] == nil { first += 1 }
    }
  }

  /// A task in line.
  private final class Waiter: Sendable {
    private enum Turn: Sendable {
      case notAskedYet
      case waits(UnsafeContinuation<Bool, Never>)
      case isOver(isServed: Bool)
    }

    let count: Int
    private let turn = Mutex(Turn.notAskedYet)

    init(_ count: Int) { self.count = count }

    /// - Returns: whether the waiter has its tokens. If not, it has left the line.
    func isServed() async -> Bool {
      await withUnsafeContinuation { continuation in
        let isServed = turn.withLock { turn -> Bool? in
          if case .isOver(let isServed) = turn { return isServed }
          turn = .waits(continuation)
          return nil
        }
        if let isServed { continuation.resume(returning: isServed) }
      }
    }

    /// Called by the one who takes the waiter out of the line.
    func end(isServed: Bool) {
      let waiting = turn.withLock { turn -> UnsafeContinuation<Bool, Never>? in
        defer { turn = .isOver(isServed: isServed) }
        if case .waits(let continuation) = turn { return continuation }
        return nil
      }
      waiting?.resume(returning: isServed)
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
  ///   - period: longer than 0. More than a hundred years count as a hundred.
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
    interval = min(period, .century) / rate
    require(interval > .zero, "a token bucket cannot give \(rate) tokens in \(period)")
    self.burst = Int(clamping: min(Int128(burst), max(1, Duration.century.attoseconds / interval.attoseconds)))
    self.tolerance = clock.withinACentury(tolerance)
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
    let now = clock.now
    return state.withLock { $0.line.isEmpty && takeOutsideTheLine(count, from: &$0, at: now) }
  }

  /// Waits until the tokens are there, and takes them. The task is suspended meanwhile. O(1) on average.
  ///
  /// Throws `CancellationError` when the task is cancelled: nothing has been taken then.
  /// - Parameter count: 0 to the burst.
  public func take(_ count: Int = 1) async throws {
    check(count)
    try Task.checkCancellation()
    let (now, waiter) = (clock.now, Waiter(count))
    let number = state.withLock { state -> Int? in
      if state.line.isEmpty {
        if takeOutsideTheLine(count, from: &state, at: now) { return nil }
        state.first = state.next
      }
      defer { state.next += 1 }
      state.line[state.next] = waiter
      return state.next
    }
    guard let number else { return }
    serve()
    let isServed = await withTaskCancellationHandler {
      await waiter.isServed()
    } onCancel: {
      leave(number)
    }
    guard isServed else { throw CancellationError() }
    let later = clock.now
    state.withLock { $0.wentOn = later }
  }

  public func evaluate() async throws { try await take() }

  /// Serves those in line whose tokens are there, and sees to it that the next one is served in time.
  private func serve() {
    let now = clock.now
    var (served, old): ([Waiter], Alarm?) = ([], nil)
    let next = state.withLock { state -> (instant: C.Instant, number: Int)? in
      while let first = state.line[state.first] {
        if take(first.count, from: &state, at: now, lateness: Self.longestLateness) {
          state.removeFirst()
          served.append(first)
          continue
        }
        let instant = state.full.advanced(by: interval * (first.count - burst))
        if instant == state.serving { return nil }
        old = state.alarm.take()
        state.serving = instant
        state.alarmNumber += 1
        return (instant, state.alarmNumber)
      }
      old = state.alarm.take()
      state.serving = nil
      return nil
    }
    old?.cancel()
    for waiter in served { waiter.end(isServed: true) }
    guard let (instant, number) = next else { return }
    // Without the lock: the alarm may go off at once.
    let alarm = Alarm.set(instant, on: clock, tolerance: tolerance) { [self] in
      state.withLock { if $0.alarmNumber == number { $0.serving = nil } }
      serve()
    }
    let isKept = state.withLock { state in
      if state.alarmNumber != number || state.serving == nil { return false }
      state.alarm = alarm
      return true
    }
    if !isKept { alarm.cancel() }
  }

  /// For a task that finds nobody in line. Where the last one has only just gone on, this one may be the same, and has
  /// been late through no fault of its own.
  private func takeOutsideTheLine(_ count: Int, from state: inout State, at now: C.Instant) -> Bool {
    let hasNotPaused = state.wentOn.map { $0.duration(to: now) <= interval } ?? false
    return take(count, from: &state, at: now, lateness: hasNotPaused ? Self.longestLateness : .zero)
  }

  private static var longestLateness: Duration { .milliseconds(100) }

  /// - Parameter lateness: what came that long ago is there beyond the burst.
  private func take(_ count: Int, from state: inout State, at now: C.Instant, lateness: Duration) -> Bool {
    let full = max(state.full, now.advanced(by: .zero - lateness)).advanced(by: interval * count)
    guard now.duration(to: full) <= interval * burst else { return false }
    state.full = full
    return true
  }

  /// Takes a task out of the line.
  private func leave(_ number: Int) {
    let (waiter, wasFirst) = state.withLock { state -> (Waiter?, Bool) in
      guard let waiter = state.line[number] else { return (nil, false) }
      let wasFirst = number == state.first
      if wasFirst { state.removeFirst() } else { state.line[number] = nil }
      return (waiter, wasFirst)
    }
    waiter?.end(isServed: false)
    if wasFirst { serve() }
  }

  private func check(_ count: Int) {
    tellRealTime(of: C.self, "a token bucket")
    require(
      (0...burst).contains(count), "a token bucket with a burst of \(burst) cannot give \(count) tokens")
  }
}
