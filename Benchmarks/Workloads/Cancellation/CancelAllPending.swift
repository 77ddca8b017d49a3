import HarnessMeasuring
import HarnessWords
import Subjects

/// `cancelAllOperations` on a queue whose operations are all pending, until the queue is empty.
///
/// With `held=dependency` the operations wait for an operation that is in no queue, so only the cancellation can
/// release them. With `held=suspension` the queue is suspended, and resumed right after the call. Timed: the call, and
/// everything the queue does to remove the cancelled operations. No body may run.
struct CancelAllPending: Workload {
  let name = BenchmarkName("cancellation", "cancel-all-pending")
  let summary = "cancelAllOperations() on pending operations, until the queue is empty"
  let metrics = [Metric.nsPerCancel]
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] {
    [["held": "dependency", "pending": "1000"], ["held": "suspension", "pending": "1000"]]
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let pending = try setting.integer("pending")
    let isSuspended = setting.parameters["held"] == "suspension"
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: pending)
    return Trial(operationsPerRepeat: pending) { repeats in
      var total: UInt64 = 0
      for _ in 0..<repeats {
        let gate = S.makeOperation {}
        if isSuspended { subject.setSuspended(true) }
        let items = (0..<pending).map { index in
          let flag = flags.slot(index)
          let item = S.makeOperation { flag.mark() }
          if !isSuspended { S.addDependency(of: item, on: gate) }
          return item
        }
        subject.add(contentsOf: items)
        guard subject.remaining == pending, flags.ran == 0 else {
          throw CheckFailed("only \(subject.remaining) of \(pending) operations are pending before they are cancelled")
        }
        let start = Clock.now()
        subject.cancelAll()
        if isSuspended { subject.setSuspended(false) }
        subject.drain()
        total += Clock.now() - start
        try checkEmpty(subject.remaining)
        guard flags.ran == 0 else {
          throw CheckFailed("\(flags.ran) of \(pending) cancelled operations ran their body")
        }
      }
      let count = pending * repeats
      return Value([Reading(.nsPerCancel, Double(total) / Double(count), count: count)])
    }
  }
}
