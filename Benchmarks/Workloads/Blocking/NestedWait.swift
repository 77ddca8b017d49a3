import HarnessMeasuring
import HarnessWords
import Subjects

/// Operations that add an operation to their own queue and wait for it, `depth` levels deep. The innermost operation
/// spins.
///
/// A queue that does not replace the threads that wait cannot finish. `efficiency` is the time that the spinning takes
/// at best, spread over the workers, divided by the makespan.
struct NestedWait: Workload {
  let name = BenchmarkName("blocking", "nested-wait")
  let summary = "operations that add an operation to their own queue and wait for it"
  let metrics = [Metric.efficiency, .makespan]
  let headlines = [Metric.efficiency, .makespan, .threadsCreated]
  let needs = Abilities.operations
  let repeats = RepeatPolicy.calibrated(seconds: 0.02)
  /// A process takes under a second, so a process that takes longer than this is in a deadlock.
  let timeLimit: Double? = 5

  func parameterSets() -> [Parameters] { [["outer": "100", "depth": "1", "work_ns": "100000"]] }
  func extendedParameterSets() -> [Parameters] {
    [
      ["outer": "16", "depth": "1", "work_ns": "100000"], ["outer": "16", "depth": "8", "work_ns": "100000"],
    ]
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let outer = try setting.integer("outer")
    let depth = try setting.integer("depth")
    let work = try setting.number("work_ns")
    let nest = Nest<S>(depth: depth, outer: outer, rounds: setting.spin.rounds(nanoseconds: work), setting)
    let ideal = work * (Double(outer) / Double(setting.workers)).rounded(.up)
    return Trial(operationsPerRepeat: outer * (depth + 1)) { repeats in
      var makespan: UInt64 = 0
      for _ in 0..<repeats {
        let start = Clock.now()
        for index in 0..<outer { nest.add(index, level: 0) }
        nest.subject.drain()
        makespan += Clock.now() - start
        try nest.flags.check()
        try checkEmpty(nest.subject.remaining)
      }
      let mean = Double(makespan) / Double(repeats)
      return Value([
        Reading(.efficiency, ideal / mean, count: outer * repeats),
        Reading(.makespan, mean, count: repeats),
      ])
    }
  }
}

/// Operations within operations. A body notes that it ran only when the operation inside it has run.
private final class Nest<S: OperationSubject>: Sendable {
  let subject: S
  let flags: RunFlags
  private let depth: Int
  private let rounds: Int

  init(depth: Int, outer: Int, rounds: Int, _ setting: Setting) {
    self.depth = depth
    self.rounds = rounds
    subject = S(workers: setting.workers)
    flags = RunFlags(count: outer * (depth + 1))
  }

  @discardableResult
  func add(_ index: Int, level: Int) -> S.Item {
    let item = S.makeOperation { self.run(index, level: level) }
    subject.add(item)
    return item
  }

  private func run(_ index: Int, level: Int) {
    if level < depth {
      S.wait(for: add(index, level: level + 1))
      guard flags.hasRun(index * (depth + 1) + level + 1) else { return }
    } else {
      Spin.run(rounds: rounds)
    }
    flags.slot(index * (depth + 1) + level).mark()
  }
}
