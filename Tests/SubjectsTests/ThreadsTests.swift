import Subjects
import Synchronization
import Testing

@testable import HarnessMeasuring

struct ThreadsTests {
  @Test func sleepingThreadsAreToldFromRunningOnes() {
    let others = Threads.all()
    #expect(!others.isEmpty)
    let subject = StealingSubject(workers: 1)
    let gate = Gate()
    subject.submit { while !gate.isOpen.load(ordering: .relaxed) {} }
    // One spins, which shows whenever it has a CPU or waits for one.
    #expect(!Threads.waitUntilAsleep(except: others, nanoseconds: 5_000_000))
    gate.isOpen.store(true, ordering: .relaxed)
    subject.drain()
  }
}

private final class Gate: Sendable {
  let isOpen = Atomic<Bool>(false)
}
