import HarnessMeasuring
import HarnessWords
import Subjects

/// How long operations stayed ready while operations of lower priority ran that had started later: see
/// `InversionReplay`. Operations that workers are just claiming are part of the number, as with the rank error. An
/// exact scheduler now and then has inversions of about one operation's length.
struct Inversion: Workload {
  let name = BenchmarkName("priority", "inversion")
  let summary = "how long an operation is ready while lower ones run that started later"
  let metrics = [Metric.inversion, .inversionMax]
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "2000", "work_ns": "2000"]] }
  func extendedParameterSets() -> [Parameters] { [["ops": "500", "work_ns": "20000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let burst = try PriorityBurst<S>(setting)
    return Trial(operationsPerRepeat: operations) { repeats in
      var total: UInt64 = 0
      var longest: UInt64 = 0
      for number in 0..<repeats {
        let replay = InversionReplay(try burst.run(number).map(\.event))
        total += replay.nanoseconds.reduce(0, +)
        longest = max(longest, replay.nanoseconds.max() ?? 0)
      }
      let count = operations * repeats
      return Value([
        Reading(.inversion, Double(total) / Double(count), count: count),
        Reading(.inversionMax, Double(longest), count: count),
      ])
    }
  }
}
