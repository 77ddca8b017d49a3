import Dispatch
import OperationJobs
import Primitives
import TestSupport
import Testing

@testable import DispatchBackend

/// The lists without an operation queue in front.
@Suite struct CalloutListsTests {
  @Test func `other users of a queue have a turn between the jobs of one callout`() throws {
    let queue = DispatchQueue(label: "shared")
    let lists = CalloutLists(queue: queue, isPrivate: false, workers: WorkerNumber(1), fairnessInterval: 0)
    let log = EventLog<Int>()
    let (begun, gate, done) = (Gate(), Gate(), CountdownLatch(1_001))
    // The first job is running when the others and the block of another user are there.
    lists.submit(
      Job {
        begun.open()
        gate.pass()
      })
    try begun.wait("the first job to begin")
    // Before the jobs: while they wait, the monitor may take the first job for a blocked one, and call out once more.
    queue.async {
      log.append(-1)
      done.countDown()
    }
    for index in 0..<1_000 {
      lists.submit(
        Job {
          log.append(index)
          done.countDown()
        })
    }
    gate.open()
    try done.wait("the jobs and the block of another user")
    let position = try #require(log.events.firstIndex(of: -1))
    #expect(position < 300, "the block came after \(position) jobs")
    #expect(log.events.filter { $0 >= 0 } == Array(0..<1_000))
  }

  @Test func `a private queue keeps its callouts, and runs each job once`() throws {
    let lists = CalloutLists(
      queue: DispatchQueue(label: "private", attributes: .concurrent), isPrivate: true, workers: WorkerNumber(2),
      fairnessInterval: 0)
    let (counter, done) = (Counter(), CountdownLatch(1_000))
    for _ in 0..<1_000 {
      lists.submit(
        Job {
          counter.increment()
          done.countDown()
        })
    }
    try done.wait("a thousand jobs")
    #expect(counter.value == 1_000 && lists.report.queued == 0 && lists.replacesBlockedThreads)
  }

  @Test func `a job that waits for the next one gives its place away`() throws {
    let lists = CalloutLists(
      queue: DispatchQueue(label: "private", attributes: .concurrent), isPrivate: true, workers: WorkerNumber(1),
      fairnessInterval: 0)
    let (second, done) = (Gate(), CountdownLatch(2))
    lists.submit(
      Job {
        lists.whileBlocked { second.pass() }
        done.countDown()
      })
    lists.submit(
      Job {
        second.open()
        done.countDown()
      })
    try done.wait("a job that waits for the next one")
  }
}
