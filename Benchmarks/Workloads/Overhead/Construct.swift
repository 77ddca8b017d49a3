import HarnessMeasuring
import HarnessWords
import Subjects

/// Creates operations that never enter a queue, all of them first, and then releases them. No operation may run, and
/// none may outlive its last reference.
struct Construct: Workload {
  let name = BenchmarkName("overhead", "construct")
  let summary = "creates and releases operations that never enter a queue"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let flags = RunFlags(count: operations)
    return Trial(operationsPerRepeat: operations) { repeats in
      var items: [S.Item] = []
      items.reserveCapacity(operations)
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        for index in 0..<operations {
          let flag = flags.slot(index)
          items.append(S.makeOperation { flag.mark() })
        }
        guard items.count == operations else { throw CheckFailed("\(items.count) of \(operations) were created") }
        items.removeAll(keepingCapacity: true)
        elapsed.add(since: start)
        guard flags.ran == 0 else { throw CheckFailed("\(flags.ran) operations ran that are in no queue") }
      }
      try Self.checkReleased(type)
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }

  /// Checks one separate operation, because a weak reference changes the cost of releasing.
  private static func checkReleased<S: OperationSubject>(_ type: S.Type) throws {
    var items = [S.makeOperation {}]
    weak let last = items[0]
    guard last != nil else { throw CheckFailed("an operation was released while it was held") }
    items.removeAll()
    guard last == nil else { throw CheckFailed("an operation outlives its last reference") }
  }
}
