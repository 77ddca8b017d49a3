import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Operations that all take one lock of the user's and hold the lock for a fraction of a microsecond. One operation
/// adds them from inside.
///
/// Timed: from adding that operation until all the others have run. Only one of the operations can run at a time. So a
/// worker that runs all of them alone is the quickest, and every worker that takes some of them makes threads wait for
/// the lock.
struct OneLock: Workload {
  let name = BenchmarkName("strategy", "one-lock")
  let summary = "operations that all take one lock for a fraction of a microsecond, so that taking work hurts"
  let metrics = Metric.cost
  let headlines = [Metric.nsPerOp, .cpuNsPerOp, .voluntarySwitchesPerOp]

  func extendedParameterSets() -> [Parameters] { [["ops": "4000", "held_ns": "300"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("held_ns"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let visits = LockedCount()
    // The bodies count no reference, because all workers would write that count. The trial keeps the object.
    let shared = Unmanaged.passUnretained(visits)
    return .rounds(of: operations, flags, on: subject) {
      subject.addInside { adder in
        for index in 0..<operations {
          let flag = flags.slot(index)
          adder.submit {
            shared._withUnsafeGuaranteedRef { $0.visit(rounds: rounds) }
            flag.mark()
          }
        }
      }
    } verify: {
      try visits.check(operations)
    }
  }
}

/// A count behind a lock.
final class LockedCount: Sendable {
  private let count = Mutex(0)

  /// Spins while holding the lock.
  @inline(__always)
  func visit(rounds: Int) {
    count.withLock { count in
      let before = count
      Spin.run(rounds: rounds)
      // A visit at the same time, which the lock must not let in, would be lost here.
      count = before + 1
    }
  }

  /// Throws unless there were as many visits since the last check.
  func check(_ visits: Int) throws {
    let alone = count.withLock { count in
      defer { count = 0 }
      return count
    }
    guard alone == visits else { throw CheckFailed("\(alone) of \(visits) operations held the lock alone") }
  }
}
