import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// One operation adds the others from inside, to its own queue.
///
/// Timed: from adding that operation until all the others have run. The thread outside sleeps meanwhile. The thread
/// waits until the adding operation has returned, and drains then, because a barrier of Dispatch covers only what was
/// submitted before the barrier.
struct LocalAdd: Workload {
  let name = BenchmarkName("overhead", "local-add")
  let summary = "one operation adds empty operations to its own queue"
  let metrics = Metric.cost + Metric.allocation

  func parameterSets() -> [Parameters] { [["ops": "10000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let added = DispatchSemaphore(value: 0)
    return .rounds(of: operations, flags, on: subject) {
      subject.submit {
        subject.addAll { adder in
          for index in 0..<operations {
            let flag = flags.slot(index)
            adder.submit { flag.mark() }
          }
        }
        added.signal()
      }
      added.wait()
    }
  }
}
