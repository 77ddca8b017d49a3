import HarnessMeasuring
import HarnessWords
import Subjects

/// A loop whose iterations may run at the same time: what an iteration costs, and what the loop gains.
struct ConcurrentPerform: Workload {
  let name = BenchmarkName("forkjoin", "perform")
  let summary = "a loop whose iterations may run at the same time"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread
  let needs = Abilities.loops

  func extendedParameterSets() -> [Parameters] { ["0", "1000"].map { ["iterations": "10000", "work_ns": $0] } }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let iterations = try setting.integer("iterations")
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    let flags = RunFlags(count: iterations)
    // A function, which the compiler makes a part of both loops.
    @inline(__always)
    @Sendable func body(_ index: Int) {
      if rounds > 0 { Spin.run(rounds: rounds) }
      flags.slot(index).mark()
    }
    return Trial.besideOneThread(
      operations: iterations, prepare: {}, alone: { for index in 0..<iterations { body(index) } },
      together: { subject.perform(iterations) { body($0) } },
      verify: {
        try flags.check()
        try checkEmpty(subject.unfinished ?? 0)
      })
  }
}
