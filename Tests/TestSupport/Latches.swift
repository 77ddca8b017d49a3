import Synchronization

/// Closed until somebody opens it, then open for good.
public final class Gate: Sendable {
  private let monitor = Monitor(false)

  public init() {}

  public var isOpen: Bool { monitor.value }

  public func open() { monitor.with { $0 = true } }

  /// For tests: waits, and fails the test with a message when the gate stays closed.
  public func wait(
    _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    guard pass(seconds: seconds) else { throw TimedOut(what, seconds: seconds, file: file, line: line) }
  }

  /// For bodies of operations, which cannot throw: waits, and gives up in the end so that no thread is lost.
  @discardableResult
  public func pass(seconds: Double = patience) -> Bool { monitor.wait(seconds: seconds) { $0 } }
}

/// Opens when it was counted down `count` times.
public final class CountdownLatch: Sendable {
  private let monitor: Monitor<Int>

  public init(_ count: Int) { monitor = Monitor(count) }

  public var remaining: Int { monitor.value }

  public func countDown() { monitor.with { $0 -= 1 } }

  /// For threads, which cannot throw: waits, and gives up in the end.
  @discardableResult
  public func pass(seconds: Double = patience) -> Bool { monitor.wait(seconds: seconds) { $0 <= 0 } }

  public func wait(
    _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    guard pass(seconds: seconds) else {
      throw TimedOut("\(what): \(remaining) are missing", seconds: seconds, file: file, line: line)
    }
  }
}

/// Holds everyone who arrives until `parties` have arrived: shows that they all ran at the same time.
public final class Rendezvous: Sendable {
  private let monitor = Monitor(0)
  private let parties: Int

  public init(_ parties: Int) { self.parties = parties }

  public var arrived: Int { monitor.value }

  /// False when the others did not come.
  @discardableResult
  public func arrive(seconds: Double = patience) -> Bool {
    monitor.with { $0 += 1 }
    return monitor.wait(seconds: seconds) { $0 >= parties }
  }
}

/// Keeps threads computing until it is set: for what must not depend on a thread that comes free.
public final class SpinFlag: Sendable {
  private let isSet = Atomic<Bool>(false)

  public init() {}

  public func set() { isSet.store(true, ordering: .releasing) }

  /// Never sleeps, so no pool can take the thread for a blocked one. Ends by itself after the patience of a test.
  public func spin() {
    let deadline = ContinuousClock.now + .seconds(patience)
    while !isSet.load(ordering: .acquiring), ContinuousClock.now < deadline {}
  }
}
