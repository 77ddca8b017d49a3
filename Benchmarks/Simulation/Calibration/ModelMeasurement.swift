import HarnessMeasuring
import HarnessStatistics
import Operations
import Synchronization

/// Measures every value of a cost model once, in this process. `calibrate-model` runs one process for each round.
package enum ModelMeasurement {
  /// Where each measured value comes from, for the file.
  package static let origins: [String: String] = [
    "operation": "a chain of empty operations behind a held worker, less an edge",
    "edge": "one operation that waits for 2,000, against the 2,000 alone, behind a held worker",
    "adding": "addOperations with a chain of 2,000, while the worker is held",
    "move": "2,000 independent operations behind a held worker, against the operation alone",
    "add": "WorkStealingDeque.push and the fence of a submit",
    "take": "WorkStealingDeque.takeFirst by the owner",
    "look": "WorkStealingDeque.isEmpty, over 1,024 deques",
    "steal": "WorkStealingDeque.steal of a job that another CPU has just pushed, less transfer",
    "submit": "Injector.push",
    "take_outside": "Injector.take of one job",
    "list": "a thread alone takes a lock and gives it back",
    "transfer": "two threads exchange a word by compare-exchange: a half of the way to and fro",
    "glance": "WorkStealingDeque.isEmpty of 256 deques that another CPU has just changed, against a second look",
    "wake": "Parker.unpark of a sleeping thread, for the caller",
    "wake_latency": "from the end of Parker.unpark until the thread runs",
    "miss": "two cache lines that another CPU has just written, against a second read",
  ]

  /// How far two CPUs may be from each other, and how the names of the values end that depend on it.
  static let distances: [(CPUGroups.Distance, suffix: String)] = [
    (.sameGroup, ""), (.otherGroup, "_other_group"), (.otherSocket, "_other_socket"),
  ]
  /// The values that depend on how far two CPUs are from each other.
  static let byDistance = ["transfer", "steal", "miss", "glance"]

  /// The values, in nanoseconds, by name. Throws when there is no second thread to be had.
  package static func measure() throws -> [String: Double] {
    var values = PrimitiveMeasurement.measureAlone()
    for (name, value) in try PrimitiveMeasurement.measureInPairs() { values[name] = value }
    for (name, value) in HeldWorker.measure() { values[name] = value }
    return values.mapValues { max(0, $0) }
  }
}

/// Operations on one worker that is held until all are added: adding and running do not overlap.
private enum HeldWorker {
  private static let count = 2_000
  private static let repeats = 9

  static func measure() -> [String: Double] {
    let queue = OperationQueue(backend: StealingBackend(workers: 1))
    var chains: [Run] = []
    var fans: [Run] = []
    var joins: [Run] = []
    // The first turn warms up the caches and the memory for operations.
    for turn in 0...repeats {
      let runs = (run(queue, chain), run(queue, independent), run(queue, joined))
      if turn == 0 { continue }
      chains.append(runs.0)
      fans.append(runs.1)
      joins.append(runs.2)
    }
    func median(_ runs: [Run], _ value: (Run) -> Double) -> Double { Statistics.median(runs.map(value)) }
    let edge = max(0, (median(joins, \.running) - median(fans, \.running)) / Double(count))
    let operation = max(0, median(chains, \.running) / Double(count) - edge)
    return [
      "edge": edge, "operation": operation, "adding": median(chains, \.adding) / Double(count),
      "move": median(fans, \.running) / Double(count) - operation,
    ]
  }

  private struct Run {
    /// From the call until it returned, in nanoseconds.
    var adding: Double
    /// From the release of the worker until the last operation ran.
    var running: Double
  }

  private static func chain(_ last: @escaping @Sendable () -> Void) -> [Operation] {
    let all = independent(last)
    for (operation, next) in zip(all, all.dropFirst()) { next.addDependency(operation) }
    return all
  }

  private static func independent(_ last: @escaping @Sendable () -> Void) -> [Operation] {
    (1..<count).map { _ in BlockOperation {} } + [BlockOperation(block: last)]
  }

  private static func joined(_ last: @escaping @Sendable () -> Void) -> [Operation] {
    let inputs = (0..<count).map { _ in BlockOperation {} }
    let join = BlockOperation(block: last)
    for input in inputs { join.addDependency(input) }
    return inputs + [join]
  }

  private static func run(
    _ queue: OperationQueue, _ make: (@escaping @Sendable () -> Void) -> [Operation]
  ) -> Run {
    let gate = Gate()
    let operations = make { gate.end.store(Clock.now(), ordering: .relaxed) }
    queue.addOperation { gate.hold() }
    while !gate.isHeld.load(ordering: .acquiring) {}
    let start = Clock.now()
    queue.addOperations(operations, waitUntilFinished: false)
    let added = Clock.now()
    gate.isOpen.store(true, ordering: .releasing)
    queue.waitUntilAllOperationsAreFinished()
    return Run(adding: Double(added - start), running: Double(gate.end.load(ordering: .relaxed) - added))
  }

  private final class Gate: Sendable {
    let isHeld = Atomic<Bool>(false)
    let isOpen = Atomic<Bool>(false)
    let end = Atomic<UInt64>(0)

    func hold() {
      isHeld.store(true, ordering: .releasing)
      while !isOpen.load(ordering: .acquiring) {}
    }
  }
}
