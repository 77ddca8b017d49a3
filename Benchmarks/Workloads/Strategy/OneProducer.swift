import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// As `local-add`, with operations that spin for some microseconds. One operation on one worker adds all of them, and
/// the other workers live on what they take from that worker.
///
/// Timed: from adding that operation until all the others have run.
struct OneProducer: Workload {
  let name = BenchmarkName("strategy", "one-producer")
  let summary = "one operation adds operations of some microseconds, which the other workers must take from it"
  let metrics = Metric.cost
  let headlines = [Metric.nsPerOp, .cpuNsPerOp, .voluntarySwitchesPerOp]

  func extendedParameterSets() -> [Parameters] { [["ops": "1000", "work_ns": "2000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    return .rounds(of: operations, flags, on: subject) {
      subject.addInside { adder in
        for index in 0..<operations {
          let flag = flags.slot(index)
          adder.submit {
            Spin.run(rounds: rounds)
            flag.mark()
          }
        }
      }
    }
  }
}

extension ClosureSubject {
  /// Submits an operation that adds others from inside, and returns when the operation has added them. The caller
  /// drains after that, because a barrier of Dispatch covers only what was submitted before the barrier.
  func addInside(_ produce: @escaping @Sendable (Adder) -> Void) {
    let added = DispatchSemaphore(value: 0)
    submit {
      self.addAll(produce)
      added.signal()
    }
    added.wait()
  }
}
