import Dispatch
import Harness
import Subjects

/// Many independent operations and one that depends on all of them, which checks that all have run.
///
/// Timed: creating, linking, adding and running them, until the last has returned. Subjects without dependencies use
/// their own means of joining (Dispatch: a group's `notify`).
struct FanIn: Workload {
  let name = BenchmarkName("dependencies", "fan-in")
  let summary = "one operation that depends on many"
  let metrics = Metric.cost + [Metric.nsPerEdge] + Metric.allocation
  let headlines = [Metric.nsPerOp, .voluntarySwitchesPerOp] + Metric.allocation
  let requirement = Capability.closures
  let repeats = RepeatPolicy.calibrated()
  let countsAllocations = true

  func parameterSets() -> [Parameters] { [["width": "1000"]] }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { _ in }
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { try checkEmpty($0.remaining) }
  }

  private func trial<S: ClosureSubject>(
    _ type: S.Type, _ setting: Setting, check: @escaping (S) throws -> Void
  ) throws -> Trial {
    let width = try setting.integer("width")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: width)
    let join = Join()
    return Trial(operationsPerRepeat: width + 1) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        subject.submit(width, { flags.slot($0).mark() }, then: { join.arrive(ran: flags.ran) })
        join.wait()
        subject.drain()
        elapsed.add(since: start)
        try join.check(expected: width)
        try flags.check()
        try check(subject)
      }
      let edges = width * repeats
      let perEdge = Reading(.nsPerEdge, Double(elapsed.wall) / Double(max(edges, 1)), count: edges)
      return Value(elapsed.readings(operations: (width + 1) * repeats) + [perEdge])
    }
  }
}

/// What the joining operation saw. Written by it before it signals, read after the wait.
private final class Join: @unchecked Sendable {
  private let arrived = DispatchSemaphore(value: 0)
  private var seen = 0
  private var arrivals = 0

  func arrive(ran: Int) {
    seen = ran
    arrivals += 1
    arrived.signal()
  }

  func wait() { arrived.wait() }

  func check(expected: Int) throws {
    guard arrivals == 1, seen == expected else {
      throw CheckFailed("the join ran \(arrivals) times and saw \(seen) of \(expected) inputs complete")
    }
    arrivals = 0
  }
}
