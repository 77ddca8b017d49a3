import Dispatch
import Glibc
import Subjects
import Synchronization
import Testing

@testable import Harness
@testable import Workloads

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

  @Test func threadsOfLibrariesAreCounted() throws {
    let before = try #require(ThreadsCreated.count)
    _ = ThreadPoolSubject(workers: 3)
    // The pool may start its threads when it has something to do.
    let subject = StealingSubject(workers: 3)
    let meeting = Atomic<Int>(0)
    for _ in 0..<3 {
      subject.submit {
        meeting.wrappingAdd(1, ordering: .relaxed)
        while meeting.load(ordering: .relaxed) < 3 { usleep(100) }
      }
    }
    subject.drain()
    #expect(try #require(ThreadsCreated.count) >= before + 3)
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

  @Test func aTimedProcessReportsThemOnce() throws {
    final class Lines { var all: [ResultLine] = [] }
    let lines = Lines()
    let subject = StealingSubject(workers: 2)
    let trial = Trial(operationsPerRepeat: 10) { repeats in
      for _ in 0..<10 * repeats { subject.submit {} }
      subject.drain()
      return Value([Reading(.nsPerOp, 1, count: 10)])
    }
    MeasuringProcess(trial) { lines.all.append($0) }.run(.time(repeats: 2, values: 3, leadIn: 0, budget: .max))
    #expect(lines.all.last == .end)
    var found: [Metric: [Int]] = [:]
    for case .reading(let index, let reading) in lines.all {
      #expect(reading.value.isFinite && reading.value >= 0)
      found[reading.metric, default: []].append(index)
    }
    #expect(found[.nsPerOp] == [1, 2, 3])
    #expect(found[.threadsCreated] == [0])
    #expect(found[.peakRSS] == [0])
    for metric in found.keys where metric != .nsPerOp {
      #expect(Metric.process.contains(metric) && found[metric] == [0])
    }
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

struct ThreadTeamTests {
  @Test func everyThreadRunsTheJobOnceEachTime() throws {
    let team = try ThreadTeam(count: 4)
    let counts = (0..<4).map { _ in Counter() }
    for _ in 0..<50 { team.run { counts[$0].value.wrappingAdd(1, ordering: .relaxed) } }
    #expect(counts.allSatisfy { $0.value.load(ordering: .relaxed) == 50 })
  }

  private final class Counter: Sendable { let value = Atomic<Int>(0) }

  @Test func slicesAreEverythingOnce() {
    for (parts, count) in [(1, 10), (3, 10), (8, 5), (4, 0)] {
      #expect((0..<parts).flatMap { slice($0, of: parts, count: count) } == Array(0..<count))
    }
  }
}

struct TaskGraphShapeTests {
  @Test func shapes() {
    #expect(TaskGraph.fanOut(width: 3).inputs == [[], [0], [0], [0]])
    #expect(TaskGraph.diamonds(2, width: 2).inputs == [[], [0], [0], [1, 2], [3], [3], [4, 5]])
    #expect(TaskGraph.reduction(leaves: 4).inputs == [[], [], [], [], [0, 1], [2, 3], [4, 5]])
    #expect(TaskGraph.reduction(leaves: 3).inputs == [[], [], [], [0, 1], [2], [3, 4]])
    #expect(TaskGraph.chain(length: 3).inputs == [[], [0], [1]])
    #expect(TaskGraph.binaryTree(tasks: 6).inputs == [[], [0], [0], [1], [1], [2]])
  }

  @Test func randomGraphsFollowTheSeed() {
    let graph = TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 7)
    #expect(graph.inputs == TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 7).inputs)
    #expect(graph.inputs != TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 8).inputs)
    #expect(graph.count == 400)
    #expect(graph.inputs.prefix(40).allSatisfy { $0.isEmpty })
    #expect(graph.inputs.dropFirst(40).allSatisfy { !$0.isEmpty && $0.count <= 40 })
    // 360 tasks look at 40 each: 3,600 edges are expected, with a standard deviation of 52.
    #expect(abs(graph.edges - 3_600) < 400)
  }

  @Test func certainAndImpossibleEdges() {
    #expect(TaskGraph.random(tasks: 20, layers: 2, probability: 1, seed: 1).edges == 100)
    #expect(TaskGraph.random(tasks: 20, layers: 2, probability: 0, seed: 1).edges == 10)
  }
}
