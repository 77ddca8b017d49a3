import Glibc

/// Body of a thread, retained by the argument of `pthread_create`.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private nonisolated func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
  return nil
}

/// Runs `body` on a fresh detached thread, with a small stack so that recursion shows.
/// Waits for room where the system has no thread to give.
public func startThread(stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void) {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, stackSize)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  while pthread_create(&thread, &attributes, threadMain, argument) == EAGAIN { usleep(1_000) }
  pthread_attr_destroy(&attributes)
}

/// The identity of the calling thread.
public func currentThread() -> UInt { UInt(pthread_self()) }

/// Runs `body` on a thread of its own and waits for it, but not for ever: a call that hangs fails the test.
@discardableResult
public func inTime<Result: Sendable>(
  _ what: String, seconds: Double = patience, stackSize: Int = 512 * 1024, file: StaticString = #fileID,
  line: Int = #line, _ body: @escaping @Sendable () throws -> Result
) throws -> Result {
  let outcome = Monitor<Swift.Result<Result, any Error>?>(nil)
  startThread(stackSize: stackSize) {
    let result = Swift.Result { try body() }
    outcome.with { $0 = result }
  }
  guard outcome.wait(seconds: seconds, until: { $0 != nil }), let result = outcome.value else {
    throw TimedOut(what, seconds: seconds, file: file, line: line)
  }
  return try result.get()
}

/// Runs the bodies at once, each on a thread of its own, released together, and waits for all.
public func race(
  _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line,
  _ bodies: (@Sendable () -> Void)...
) throws {
  let start = Rendezvous(bodies.count)
  let done = CountdownLatch(bodies.count)
  for body in bodies {
    startThread {
      start.arrive()
      body()
      done.countDown()
    }
  }
  try done.wait(what, seconds: seconds, file: file, line: line)
}

/// Runs `body(0..<count)` on `count` threads at once and waits for all.
public func onThreads(
  _ count: Int, _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line,
  _ body: @escaping @Sendable (Int) -> Void
) throws {
  let start = Rendezvous(count)
  let done = CountdownLatch(count)
  for index in 0..<count {
    startThread {
      start.arrive()
      body(index)
      done.countDown()
    }
  }
  try done.wait(what, seconds: seconds, file: file, line: line)
}

/// Polls for what no latch can be put on, such as a released object.
public func eventually(
  _ what: String, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line,
  _ condition: () -> Bool
) throws {
  var waited = 0.0
  var pause = 0.000_05
  while !condition() {
    guard waited < seconds else { throw TimedOut(what, seconds: seconds, file: file, line: line) }
    usleep(UInt32(pause * 1e6))
    waited += pause
    pause = min(pause * 2, 0.02)
  }
}

/// Gives other threads a chance to do what they must not do. Too short a pause can only hide a defect, never invent
/// one.
public func giveOthersAChance() { usleep(20_000) }

/// A mutex that is not recursive and knows its holder: a deadlock with oneself is reported instead of suffered.
public final class UserLock: Sendable {
  private let holder = Monitor<UInt?>(nil)
  private let selfDeadlocks = Counter()

  public init() {}

  /// How often a thread asked for the lock while it held it.
  public var reentries: Int { selfDeadlocks.value }

  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    let me = currentThread()
    if holder.value == me { selfDeadlocks.increment() }
    while true {
      let isMine = holder.with { owner in
        guard owner == nil || owner == me else { return false }
        owner = me
        return true
      }
      if isMine { break }
      _ = holder.wait { $0 == nil }
    }
    defer { holder.with { $0 = nil } }
    return try body()
  }
}
