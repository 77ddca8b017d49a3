/// Events in the order in which threads reported them.
public final class EventLog<Event: Sendable>: Sendable {
  private let monitor = Monitor<[Event]>([])

  public init() {}

  public var events: [Event] { monitor.value }
  public var count: Int { monitor.with { $0.count } }

  public func append(_ event: Event) { monitor.with { $0.append(event) } }

  public func wait(
    count: Int, _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    guard monitor.wait(seconds: seconds, until: { $0.count >= count }) else {
      throw TimedOut("\(what): \(self.count) of \(count)", seconds: seconds, file: file, line: line)
    }
  }
}

/// A number that several threads raise.
public final class Counter: Sendable {
  private let monitor = Monitor(0)

  public init() {}

  public var value: Int { monitor.value }

  /// The new value.
  @discardableResult
  public func increment() -> Int {
    monitor.with {
      $0 += 1
      return $0
    }
  }

  public func wait(
    for value: Int, _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    guard monitor.wait(seconds: seconds, until: { $0 >= value }) else {
      throw TimedOut("\(what): \(self.value) of \(value)", seconds: seconds, file: file, line: line)
    }
  }
}

/// How many are inside at once, now and at most.
public final class ConcurrencyMeter: Sendable {
  private let monitor = Monitor((current: 0, maximum: 0, total: 0))

  public init() {}

  public var current: Int { monitor.value.current }
  public var maximum: Int { monitor.value.maximum }
  public var total: Int { monitor.value.total }

  public func enter() {
    monitor.with {
      $0.current += 1
      $0.total += 1
      $0.maximum = max($0.maximum, $0.current)
    }
  }

  public func leave() { monitor.with { $0.current -= 1 } }

  public func measure(_ body: () -> Void) {
    enter()
    body()
    leave()
  }
}

/// Counts the tokens that are alive: what holds a token must be released for the count to come back to zero.
public final class LifetimeTracker: Sendable {
  private let monitor = Monitor((live: 0, peak: 0))

  public init() {}

  public var live: Int { monitor.value.live }
  public var peak: Int { monitor.value.peak }

  public func token() -> Token { Token(self) }

  public final class Token: Sendable {
    private let tracker: LifetimeTracker

    fileprivate init(_ tracker: LifetimeTracker) {
      self.tracker = tracker
      tracker.monitor.with {
        $0.live += 1
        $0.peak = max($0.peak, $0.live)
      }
    }

    deinit { tracker.monitor.with { $0.live -= 1 } }
  }

  public func waitUntilAllReleased(
    _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    guard monitor.wait(seconds: seconds, until: { $0.live == 0 }) else {
      throw TimedOut("\(what) to be released: \(live) are alive", seconds: seconds, file: file, line: line)
    }
  }
}
