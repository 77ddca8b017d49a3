import Glibc
import Synchronization

/// Threads that keep CPUs busy, as other programs do.
package final class BusyThreads: Sendable {
  private let isOver = Atomic<Bool>(false)

  private init() {}

  /// Runs `body` beside `count` busy threads, and returns when the threads have ended.
  package static func beside<Result>(_ count: Int, _ body: () throws -> Result) rethrows -> Result {
    let busy = BusyThreads()
    var handles = [pthread_t](repeating: 0, count: count)
    for index in 0..<count {
      let status = pthread_create(
        &handles[index], nil,
        { argument in
          Unmanaged<BusyThreads>.fromOpaque(argument!).takeRetainedValue().spin()
          return nil
        }, Unmanaged.passRetained(busy).toOpaque())
      precondition(status == 0, "cannot create a thread: error \(status)")
    }
    defer {
      busy.isOver.store(true, ordering: .relaxed)
      for handle in handles { pthread_join(handle, nil) }
    }
    return try body()
  }

  private func spin() {
    while !isOver.load(ordering: .relaxed) { Spin.run(rounds: 1_000) }
  }
}
