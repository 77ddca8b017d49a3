import Glibc
import Subjects
import Synchronization
import Testing

@testable import HarnessMeasuring

/// What a process with a subject costs beside time.
struct SubjectCostTests {
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

  @Test func aTimedProcessReportsThemOnce() throws {
    final class Lines { var all: [ResultLine] = [] }
    let lines = Lines()
    let subject = StealingSubject(workers: 2)
    let trial = Trial(operationsPerRepeat: 10) { repeats in
      for _ in 0..<10 * repeats { subject.submit {} }
      subject.drain()
      return Value([Reading(.nsPerOp, 1, count: 10)])
    }
    MeasuringProcess(trial) { lines.all.append($0) }.run(.time(repeats: 2, values: 3, leadIn: 1))
    #expect(lines.all.last == .end)
    var indices: [Metric: [Int]] = [:]
    for case .reading(let index, let reading) in lines.all {
      #expect(reading.value.isFinite && reading.value >= 0)
      indices[reading.metric, default: []].append(index)
    }
    #expect(indices[.nsPerOp] == [1, 2, 3])
    #expect(indices[.threadsCreated] == [0])
    #expect(indices[.peakRSS] == [0])
    for metric in indices.keys where metric != .nsPerOp {
      #expect(Metric.process.contains(metric) && indices[metric] == [0])
    }
  }
}
