import HarnessMeasuring
import HarnessWords
import Subjects

/// The time from handing an operation over until its body begins, per priority level, in bursts of all levels.
///
/// A burst is closed: its last operations wait as long as the whole burst takes, on any subject. So the waits of the
/// levels should be compared with one another and between subjects, not with the waits of an idle queue.
struct WaitByLevel: Workload {
  let name = BenchmarkName("priority", "wait-by-level")
  let summary = "from adding to starting, per priority level"
  let metrics = SampleSeries.metrics("wait")
  let needs = Abilities.operations
  /// Enough for ten thousand samples of each level.
  let repeats = RepeatPolicy.samples(30, seconds: 0.5)

  func parameterSets() -> [Parameters] { [["ops": "2000", "work_ns": "2000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let burst = try PriorityBurst<S>(setting)
    return Trial(operationsPerRepeat: try setting.integer("ops")) { repeats in
      var waits = [[UInt64]](repeating: [], count: PriorityLevel.allCases.count)
      for number in 0..<repeats {
        for record in try burst.run(number) {
          waits[record.event.level.rawValue].append(record.event.started - record.added)
        }
      }
      let series = PriorityLevel.allCases.reversed().map { level in
        SampleSeries("wait", detail: ["level": "\(level)"], nanoseconds: waits[level.rawValue])
      }
      return Value(samples: series)
    }
  }
}
