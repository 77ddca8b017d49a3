import Glibc

/// How long a test waits for something that must happen before it calls it lost. Never a statement about speed.
public let patience: Double = 60

/// Whether tests run as a whole of which a change gets a part (`Tests/README.md`).
public let runsLongTests = getenv("OPBENCH_LONG_TESTS") != nil

/// How many of something a test has: the whole at night, and a part of the whole for a change.
public func part(_ few: Int, of all: Int) -> Int { runsLongTests ? all : few }

/// A value behind a mutex and a condition variable. Every helper that waits is built on it, so every wait ends.
///
/// Invariant behind `@unchecked Sendable`: `state` is read and written only while `mutex` is held.
public final class Monitor<State>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public init(_ state: State) {
    self.state = state
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Reads or changes the state, and wakes whoever waits for a change.
  @discardableResult
  public func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// A copy of the state.
  public var value: State { with { $0 } }

  /// Waits until the state satisfies `isMet`; false when it did not within `seconds`.
  public func wait(seconds: Double = patience, until isMet: (State) -> Bool) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + Int((seconds - seconds.rounded(.down)) * 1e9)
    deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isMet(state) {
      if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT { return isMet(state) }
    }
    return true
  }
}

/// Thrown by every waiting helper whose time ran out.
public struct TimedOut: Error, CustomStringConvertible {
  public let description: String

  public init(_ what: String, seconds: Double, file: StaticString, line: Int) {
    description = "gave up after \(Int(seconds)) s waiting for \(what) (\(file):\(line))"
  }

  private init(description: String) { self.description = description }

  /// Adds a diagnosis.
  func explained(by diagnosis: String) -> TimedOut { TimedOut(description: "\(description)\n\(diagnosis)") }
}
