import Glibc
import HarnessStatistics
import Synchronization

/// Threads that keep CPUs busy, as other programs do.
package final class BusyThreads {
  private let shared = Shared()
  private var handles: [pthread_t] = []

  private final class Shared: Sendable {
    let isOver = Atomic<Bool>(false)
    let cpu = Atomic<UInt64>(0)
    let wall = Atomic<UInt64>(0)
  }

  package init(_ count: Int) {
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
    let begin = Clock.now()
    while !shared.isOver.load(ordering: .relaxed) { Spin.run(rounds: 1_000) }
    shared.wall.wrappingAdd(Clock.now() - begin, ordering: .relaxed)
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    shared.cpu.wrappingAdd(UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec), ordering: .relaxed)
  }
}
