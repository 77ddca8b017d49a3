import Glibc
import Operations
import TestSupport

/// Graphs that are run again and again, from several threads and as operations, beside one another: each node that a
/// serial run would run runs once in each run, with the sums of its inputs.
struct GraphRound {
  let seed: UInt64

  struct Outcome {
    var violations: [String] = []
    var graphs = 0
    var runs = 0
  }

  /// - Throws: when something hangs.
  func run(on backend: any Backend) throws -> Outcome {
    var random = SeededGenerator(seed: seed ^ 0x8A5C_D789_635D_2DFF)
    let queue = OperationQueue(backend: backend)
    let outcomes = Monitor(Outcome())
    let graphs = random.pick(1...4)
    outcomes.with { $0.graphs = graphs }
    for _ in 0..<graphs {
      let sample = RandomGraph(seed: random.next(), most: random.chance(20) ? 1_000 : 60)
      let share = random.chance(50) ? 0 : random.pick(1...20)
      let failing = Set((0..<sample.before.count).filter { _ in random.chance(share) })
      let slow = Set((0..<sample.before.count).filter { _ in random.chance(share) })
      let order = [GraphOrder.added, .added, .criticalPath, .measured][random.pick(0...3)]
      let mayBlock = random.chance(30)
      let cells = sample.before.map { _ in Monitor((count: 0, wrong: 0)) }
      let graph = sample.graph(
        overlapping: random.chance(50) ? .inOrder : .anyOrder, order: order, failing: failing,
        asynchronous: random.chance(30) ? slow : []
      ) { node, isRight in
        if mayBlock, slow.contains(node) { usleep(20) }
        cells[node].with { cell in
          cell.count += 1
          if !isRight { cell.wrong += 1 }
        }
      }
      let (skipped, error) = sample.skipped(failing: failing)
      let (threads, operations, repeats) = (random.pick(0...2), random.pick(0...6), random.pick(1...5))
      let left = CountdownLatch(threads)
      @Sendable func note(_ result: Result<Void, any Error>) {
        let seen: RandomGraph.Refused? =
          if case .failure(let error) = result { error as? RandomGraph.Refused } else { nil }
        outcomes.with {
          $0.runs += 1
          if seen != error {
            $0.violations.append("a run of a graph ended with \(result), and should with \(error as Any)")
          }
        }
      }
      for _ in 0..<threads {
        startThread {
          for _ in 0..<repeats { note(Result { try backend.run { try graph.run(afterFailure: .finishOthers) } }) }
          left.countDown()
        }
      }
      let added = (0..<operations).map { _ in graph.operation(afterFailure: .finishOthers) }
      for operation in added { queue.addOperation(operation) }
      queue.addOperation { note(Result { try graph.run(afterFailure: .finishOthers) }) }
      try left.wait("the runs of a graph")
      try inTime("the operations that run graphs") { queue.waitUntilAllOperationsAreFinished() }
      for operation in added { note(operation.result ?? .failure(CancellationError())) }
      let runs = threads * repeats + operations + 1
      for (node, cell) in cells.enumerated() {
        let (count, wrong) = cell.value
        if count != (skipped[node] ? 0 : runs) || wrong > 0 {
          outcomes.with {
            $0.violations.append("node \(node) ran \(count) times in \(runs) runs, \(wrong) times with wrong inputs")
          }
        }
      }
      if mayBlock { cancelSome(of: graph, in: queue, &random) }
      try inTime("the operations that run graphs") { queue.waitUntilAllOperationsAreFinished() }
    }
    return outcomes.value
  }

  /// Nothing is lost or stays when runs are cancelled at any time.
  private func cancelSome(of graph: OperationGraph<Void>, in queue: OperationQueue, _ random: inout SeededGenerator) {
    for _ in 0..<random.pick(1...5) {
      let operation = graph.operation()
      queue.addOperation(operation)
      if random.chance(50) { usleep(UInt32(random.pick(0...50))) }
      operation.cancel()
    }
  }
}
