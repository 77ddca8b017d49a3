import Dispatch
import Glibc
import Testing

@testable import HarnessMeasuring

/// What a process costs beside time. Other tests run in the same process, so counts are bounded from below alone.
struct ProcessCostTests {
  @Test func everyThreadIsCountedAlsoThoseThatHaveEnded() throws {
    let before = try #require(ThreadsCreated.count)
    for _ in 0..<5 {
      var thread = pthread_t()
      #expect(pthread_create(&thread, nil, { _ in nil }, nil) == 0)
      pthread_join(thread, nil)
    }
    #expect(try #require(ThreadsCreated.count) >= before + 5)
  }

  @Test func dispatchThreadsAreCounted() throws {
    let before = try #require(ThreadsCreated.count)
    let present = ProcessCost.threads().count
    let gate = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    // Each serial queue is entitled to a thread, and there are more of them than there can be idle threads.
    for _ in 0..<present + 8 { DispatchQueue(label: "blocked").async(group: group) { gate.wait() } }
    usleep(300_000)
    let after = try #require(ThreadsCreated.count)
    for _ in 0..<present + 8 { gate.signal() }
    group.wait()
    #expect(after > before)
  }

  @Test func peakMemoryGrowsWithWhatIsTouched() throws {
    let before = try #require(ProcessCost.peakRSS())
    let size = 64 << 20
    let memory = UnsafeMutableRawPointer.allocate(byteCount: before + size, alignment: 4_096)
    memset(memory, 1, before + size)
    memory.deallocate()
    #expect(try #require(ProcessCost.peakRSS()) >= before + size / 2)
  }

  /// Where the machine lets us count, the count is right within its own bounds; where not, there is a reason.
  @Test func eventsAreCountedOrTheirAbsenceExplained() throws {
    let availability = PerfAvailability()
    let kinds = [(availability.hardware, PerfEvent.hardware), (availability.software, PerfEvent.software)]
    #expect((availability.advice == nil) == kinds.allSatisfy { $0.0 == "available" })
    for (state, events) in kinds where state != "available" {
      #expect(state.hasPrefix("not available: "))
      for event in events { #expect(availability.advice?.contains(event.metric.name) == true) }
    }
    guard availability.software == "available" else { return }
    let count = try #require(PerfCount())
    // A page that has never been touched is a fault, if no huge page (15 is MADV_NOHUGEPAGE); a sleep is a switch.
    let pages = 1_000
    let memory = mmap(nil, pages * 4_096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    madvise(memory, pages * 4_096, 15)
    for page in 0..<pages { memory.storeBytes(of: 1, toByteOffset: page * 4_096, as: UInt8.self) }
    munmap(memory, pages * 4_096)
    for _ in 0..<10 { usleep(100) }
    let readings = count.readings(operations: 1)
    func value(_ metric: Metric) -> Double? { readings.first { $0.metric == metric }?.value }
    // Threads that other tests end meanwhile take their counters with them; this one's counts remain.
    if let faults = value(.pageFaultsPerOp) { #expect(faults >= Double(pages)) }
    if let switches = value(.contextSwitchesPerOp) { #expect(switches >= 10) }
    #expect(!readings.isEmpty)
  }
}
