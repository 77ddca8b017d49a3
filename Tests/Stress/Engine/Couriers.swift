import Glibc
import TestSupport

/// Threads that do what is handed to them, in a random order: they finish asynchronous operations, open gates, add and
/// remove dependencies. They never wait for an operation, so whatever waits for them goes on.
final class Couriers: Sendable {
  private struct Mail {
    var tasks: [@Sendable () -> Void] = []
    var isClosed = false
  }

  private let mail = Monitor(Mail())
  private let running: CountdownLatch

  init(threads: Int, random: inout SeededGenerator) {
    running = CountdownLatch(threads)
    for _ in 0..<threads {
      let choices = random.split()
      startThread {
        self.work(choices)
        self.running.countDown()
      }
    }
  }

  func post(_ task: @escaping @Sendable () -> Void) { mail.with { $0.tasks.append(task) } }

  /// Lets the threads end when nothing is left to do.
  func close() throws {
    mail.with { $0.isClosed = true }
    try running.wait("the couriers to end")
  }

  private func work(_ seeded: SeededGenerator) {
    var random = seeded
    while true {
      _ = mail.wait(seconds: 3_600) { !$0.tasks.isEmpty || $0.isClosed }
      let task: (@Sendable () -> Void)? = mail.with {
        guard !$0.tasks.isEmpty else { return nil }
        $0.tasks.swapAt(random.pick(0...($0.tasks.count - 1)), $0.tasks.count - 1)
        return $0.tasks.removeLast()
      }
      if let task { task() } else if mail.with({ $0.isClosed && $0.tasks.isEmpty }) { return }
      if random.chance(20) { usleep(UInt32(random.pick(1...100))) }
    }
  }
}
