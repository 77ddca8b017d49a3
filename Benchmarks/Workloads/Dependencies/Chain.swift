import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// Operations in a row, each depending on the operation before. Each checks that its predecessor has run.
///
/// Timed: creating, linking, adding as one batch, running, and releasing the operations. Foundation's cost grows with
/// the square of the length, so the length that all subjects share is only 1,000. On a subject that only runs closures,
/// each closure submits the next.
struct Chain: Workload {
  let name = BenchmarkName("dependencies", "chain")
  let summary = "operations in a row, each depending on the one before"
  let metrics = Metric.cost + [Metric.nsPerEdge] + Metric.allocation
  let headlines = [Metric.nsPerOp, .voluntarySwitchesPerOp] + Metric.allocation
  let repeats = RepeatPolicy.calibrated(seconds: 0.05)

  func parameterSets() -> [Parameters] { [["length": "1000"]] }
  func extendedParameterSets() -> [Parameters] { ManyOperations.sizes.map { ["length": "\($0)"] } }
  func needs(_ parameters: Parameters) -> Abilities { ManyOperations.needs(parameters, "length", beside: needs) }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let length = try setting.integer("length")
    let runner = ClosureChain(subject: S(workers: setting.workers), length: length)
    return trial(length: length, order: runner.order) { elapsed in
      let start = Counters.read()
      runner.subject.submit { runner.step(0) }
      runner.finished.wait()
      elapsed.add(since: start)
      runner.subject.drain()
    }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let length = try setting.integer("length")
    let subject = S(workers: setting.workers)
    let order = ChainOrder(length: length)
    // The bodies count no reference, because that is no cost of a subject. The trial keeps the order.
    let bodies = Unmanaged.passUnretained(order)
    return trial(length: length, order: order) { elapsed in
      // Local to this function, so that no exclusivity check is made on access.
      var items: [S.Item] = []
      items.reserveCapacity(length)
      let start = Counters.read()
      // As `items.last`, which would count a reference.
      var previous: Unmanaged<S.Item>?
      for index in 0..<length {
        let item = S.makeOperation { bodies._withUnsafeGuaranteedRef { $0.visit(index) } }
        previous?._withUnsafeGuaranteedRef { S.addDependency(of: item, on: $0) }
        previous = Unmanaged.passUnretained(item)
        items.append(item)
      }
      subject.add(contentsOf: items)
      items.removeAll(keepingCapacity: true)
      subject.drain()
      elapsed.add(since: start)
      try checkEmpty(subject.remaining)
    }
  }

  private func trial(length: Int, order: ChainOrder, run: @escaping (inout Elapsed) throws -> Void) -> Trial {
    Trial(operationsPerRepeat: length) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        try run(&elapsed)
        try order.check()
      }
      return Value(elapsed.readings(operations: length * repeats, edges: (length - 1) * repeats))
    }
  }
}

/// A chain of closures: each closure submits its successor as its last act.
private final class ClosureChain<S: ClosureSubject>: Sendable {
  let subject: S
  let order: ChainOrder
  let finished = DispatchSemaphore(value: 0)
  private let length: Int

  init(subject: S, length: Int) {
    self.subject = subject
    self.length = length
    order = ChainOrder(length: length)
  }

  /// The body counts no reference, because that is no cost of a subject. The trial keeps this object.
  @inline(__always)
  private func submit(_ index: Int) {
    let chain = Unmanaged.passUnretained(self)
    subject.submit { chain._withUnsafeGuaranteedRef { $0.step(index) } }
  }

  func step(_ index: Int) {
    order.visit(index)
    if index + 1 < length {
      submit(index + 1)
    } else {
      finished.signal()
    }
  }
}

/// Counts along a chain. Only one operation may run at a time, ordered after the operation before. The count checks
/// this order and shows when a subject breaks it.
private final class ChainOrder: @unchecked Sendable {
  private let length: Int
  private var visited = 0
  private var isInOrder = true

  init(length: Int) { self.length = length }

  func visit(_ index: Int) {
    if visited != index { isInOrder = false }
    visited += 1
  }

  func check() throws {
    guard isInOrder, visited == length else {
      throw CheckFailed("a chain of \(length) ran \(visited) operations \(isInOrder ? "in" : "out of") order")
    }
    visited = 0
  }
}
