import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// Many independent operations, and one operation that depends on all of them and checks that all have run.
///
/// Timed: creating, linking, adding and running the operations, until the last has returned. Subjects without
/// dependencies use their own means of joining (Dispatch: a group's `notify`).
struct FanIn: Workload {
  let name = BenchmarkName("dependencies", "fan-in")
  let summary = "one operation that depends on many"
  let metrics = Metric.cost + [Metric.nsPerEdge] + Metric.allocation
  let headlines = [Metric.nsPerOp, .voluntarySwitchesPerOp] + Metric.allocation

  func parameterSets() -> [Parameters] { [["width": "1000"]] }
  func extendedParameterSets() -> [Parameters] { ManyOperations.sizes.map { ["width": "\($0)"] } }
  func needs(_ parameters: Parameters) -> Abilities { ManyOperations.needs(parameters, "width", beside: needs) }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let width = try setting.integer("width")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: width)
    let join = Join()
    return .rounds(of: width + 1, flags, on: subject, edges: width) {
      subject.submit(width, { flags.slot($0).mark() }, then: { join.arrive(ran: flags.ran) })
      join.wait()
    } verify: {
      try join.check(expected: width)
    }
  }
}

/// What the joining operation saw. The joining operation writes before it signals; the waiting thread reads after the
/// wait.
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
