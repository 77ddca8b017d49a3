import Glibc
import HarnessStatistics
import Synchronization

/// Threads that keep CPUs busy, as other programs do.
package final class BusyThreads {
  private let shared: Shared
  private var handles: [pthread_t] = []

  private final class Shared: Sendable {
    let seed: UInt64?
    let window: Range<UInt64>
    let isOver = Atomic<Bool>(false)
    let begun = Atomic<UInt64>(0)
    let cpu = Atomic<UInt64>(0)
    let wall = Atomic<UInt64>(0)

    init(seed: UInt64?, window: Range<UInt64>) { (self.seed, self.window) = (seed, window) }

    func goesOn(until end: UInt64) -> Bool {
      !isOver.load(ordering: .relaxed) && Clock.now() < min(end, window.upperBound)
    }
  }

  /// How long a thread that comes and goes is there on average, and how long away, in nanoseconds.
  private static let meanStay = 20e6

  /// - Parameters:
  ///   - seed: nil for threads that are always busy. Otherwise each comes and goes, half of the time.
  ///   - window: between which times of the monotonic clock they are busy, unless `end` is called earlier.
  package init(_ count: Int, comingAndGoing seed: UInt64? = nil, during window: Range<UInt64> = 0..<UInt64.max) {
    shared = Shared(seed: seed, window: window)
    for _ in 0..<count {
      var handle = pthread_t()
      let status = pthread_create(
        &handle, nil,
        { argument in
          BusyThreads.live(Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue())
          return nil
        }, Unmanaged.passRetained(shared).toOpaque())
      precondition(status == 0, "cannot create a thread: error \(status)")
      handles.append(handle)
    }
  }

  /// Returns when the threads have ended.
  /// - Returns: the CPU time that they used, and how long they wanted a CPU, in nanoseconds over all threads.
  @discardableResult
  package func end() -> (cpu: UInt64, wanted: UInt64) {
    shared.isOver.store(true, ordering: .relaxed)
    for handle in handles { pthread_join(handle, nil) }
    handles = []
    return (shared.cpu.load(ordering: .relaxed), shared.wall.load(ordering: .relaxed))
  }

  /// Runs `body` beside `count` busy threads, and returns when the threads have ended.
  package static func beside<Result>(_ count: Int, _ body: () throws -> Result) rethrows -> Result {
    let busy = BusyThreads(count)
    defer { busy.end() }
    return try body()
  }

  private static func live(_ shared: Shared) {
    let number = shared.begun.wrappingAdd(1, ordering: .relaxed).newValue
    var random = SeededGenerator(seed: (shared.seed ?? 0) &+ number, purpose: "antagonist")
    func stay() -> UInt64 { UInt64(-log(1 - Double.random(in: 0..<1, using: &random)) * Self.meanStay) }
    while !shared.isOver.load(ordering: .relaxed), Clock.now() < shared.window.lowerBound {
      Pacer.sleep(until: min(shared.window.lowerBound, Clock.now() + 20_000_000))
    }
    while shared.goesOn(until: .max) {
      let begin = Clock.now()
      let end = shared.seed == nil ? .max : begin + stay()
      while shared.goesOn(until: end) { Spin.run(rounds: 1_000) }
      shared.wall.wrappingAdd(Clock.now() - begin, ordering: .relaxed)
      guard shared.seed != nil else { continue }
      let away = Clock.now() + stay()
      while shared.goesOn(until: away) { Pacer.sleep(nanoseconds: 500_000) }
    }
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    shared.cpu.wrappingAdd(UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec), ordering: .relaxed)
  }
}
