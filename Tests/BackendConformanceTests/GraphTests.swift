import DeterministicOperations
import OperationBackends
import TestSupport
import Testing

/// Row 76: graphs that are made once and run often.
@Suite("Graphs")
struct GraphTests {
  typealias Refused = RandomGraph.Refused

  @Test("row 76.1: each node runs once, after all nodes before it, with their values", arguments: allBackends)
  func nodesRunOnce(backend: TestBackend) throws {
    try backend.withBackend { pool in
      for seed in 0..<UInt64(60) {
        let random = RandomGraph(seed: seed)
        for order in [GraphOrder.added, .criticalPath, .measured] {
          let ran = Monitor([Int](repeating: 0, count: random.before.count))
          let graph = random.graph(order: order) { node, isRight in ran.with { $0[node] += isRight ? 1 : 1_000 } }
          for _ in 0..<3 { try pool.run { try graph.run() } }
          #expect(ran.value.allSatisfy { $0 == 3 }, "seed \(seed)")
        }
      }
    }
  }

  @Test("row 76.2: values go along the edges, and the value of a run is that of a node", arguments: allBackends)
  func values(backend: TestBackend) throws {
    let graph = OperationGraph(of: String.self) { graph in
      let name = graph.add { "a" }
      let numbers = graph.add(name) { name in [name.count, 2] }
      let pair = graph.add(name, numbers) { ($0, $1.reduce(0, +)) }
      return graph.add(pair, numbers, name) { pair, numbers, name in "\(pair.0)\(pair.1)\(numbers)\(name)" }
    }
    try backend.withBackend { pool in
      for _ in 0..<50 {
        let value = try pool.run { try graph.run() }
        #expect(value == "a3[1, 2]a")
      }
    }
  }

  @Test("row 76.2: values are released when their run ends, also when nodes fail", arguments: allBackends)
  func valuesAreReleased(backend: TestBackend) throws {
    let alive = Monitor(0)
    let graph = OperationGraph { graph in
      let first = graph.add { Captured(alive) }
      let second = graph.add(first) { first in [first, Captured(alive)] }
      let third: GraphNode<Captured> = graph.add(second) { _ in throw Refused(number: 3) }
      graph.add(third) { _ in Captured(alive) }
    }
    try backend.withBackend { pool in
      for _ in 0..<50 {
        #expect(throws: Refused(number: 3)) { try pool.run { try graph.run() } }
        #expect(alive.value == 0)
      }
    }
  }

  @Test(
    "row 76.3: the error of the node that was added first is thrown, and what comes behind is skipped",
    arguments: allBackends)
  func errors(backend: TestBackend) throws {
    try backend.withBackend { pool in
      for seed in 0..<UInt64(40) {
        let random = RandomGraph(seed: seed)
        let failing = Set((0..<random.before.count).filter { $0 % 17 == 5 })
        let ran = Monitor([Int](repeating: 0, count: random.before.count))
        let graph = random.graph(failing: failing) { node, isRight in ran.with { $0[node] += isRight ? 1 : 1_000 } }
        let (skipped, first) = random.skipped(failing: failing)
        for round in 1...3 {
          do {
            try pool.run { try graph.run(afterFailure: .finishOthers) }
            #expect(first == nil)
          } catch let error as Refused { #expect(error == first) }
          #expect(ran.value == skipped.map { $0 ? 0 : round }, "seed \(seed)")
        }
      }
    }
  }

  @Test("row 76.3: no other node begins behind an error, unless the caller says so", arguments: allBackends)
  func othersAreSkipped(backend: TestBackend) throws {
    let count = Counter()
    let graph = OperationGraph { graph in
      graph.add { throw Refused(number: 0) }
      var last = graph.add { count.increment() }
      for _ in 0..<10_000 { last = graph.add(after: [last]) { count.increment() } }
    }
    try backend.withBackend(workers: 1) { pool in
      #expect(throws: Refused(number: 0)) { try pool.run { try graph.run(afterFailure: .finishOthers) } }
      #expect(count.value == 10_001)
      for _ in 0..<20 { #expect(throws: Refused(number: 0)) { try pool.run { try graph.run() } } }
    }
  }

  /// On a thread of this backend nothing else goes on between the end of a body and what the run makes of its error. So
  /// the graph is run by an operation.
  @Test("row 76.3: each thread begins no node behind an error", arguments: 0..<20 as Range<UInt64>)
  func nothingBegins(seed: UInt64) throws {
    let backend = DeterministicBackend(workers: 3, seed: seed)
    let order = EventLog<Int>()
    let graph = OperationGraph { graph in
      let root = graph.add {}
      graph.add(after: [root]) {
        order.append(-1)
        throw Refused(number: 1)
      }
      for _ in 0..<4 {
        var last = root
        for number in 0..<50 { last = graph.add(after: [last]) { order.append(number) } }
      }
    }
    let queue = OperationQueue(backend: backend)
    queue.addOperation { #expect(throws: Refused(number: 1)) { try graph.run() } }
    queue.waitUntilAllOperationsAreFinished()
    let events = order.events
    let failed = try #require(events.firstIndex(of: -1))
    #expect(failed == events.count - 1, "\(events)")
  }

  @Test("row 76.4: an operation runs the graph: dependencies, value, dependents", arguments: allBackends)
  func operations(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let order = EventLog<String>()
      let graph = OperationGraph(of: Int.self) { graph in
        let first = graph.add {
          order.append("first")
          return 20
        }
        return graph.add(first) { first in
          order.append("second")
          return first + 22
        }
      }
      let before = BlockOperation { order.append("before") }
      let operation = graph.operation(name: "graph")
      operation.addDependency(before)
      let after = BlockOperation { order.append("after") }
      after.addDependency(operation)
      queue.addOperations([after, operation, before], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(try operation.result?.get() == 42)
      #expect(order.events == ["before", "first", "second", "after"])
    }
  }

  @Test("row 76.5: a run that is cancelled begins no further node", arguments: allBackends)
  func cancelling(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (began, gates, late) = (Counter(), (0..<3).map { _ in Gate() }, Counter())
      let graph = OperationGraph { graph in
        let first = graph.add {
          let round = began.increment() - 1
          gates[round].pass()
        }
        for _ in 0..<100 { graph.add(after: [first]) { late.increment() } }
      }
      for round in 0..<3 {
        let operation = graph.operation()
        queue.addOperation(operation)
        try began.wait(for: round + 1, "the first node to begin")
        operation.cancel()
        gates[round].open()
        try queue.drainInTime()
        #expect(throws: CancellationError.self) { try operation.result?.get() }
      }
      #expect(late.value == 0)
    }
  }

  @Test("row 76.6: asynchronous nodes block no thread, and their values go on", arguments: allBackends)
  func asynchronousNodes(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let graph = OperationGraph(of: Int.self) { graph in
        let first = graph.addTask { () async in
          await Task.yield()
          return 1
        }
        let nodes = (0..<20).map { number in
          graph.addTask(first) { first in
            await Task.yield()
            return first + number
          }
        }
        var sum = graph.add { 0 }
        for node in nodes { sum = graph.add(sum, node) { $0 + $1 } }
        return sum
      }
      for _ in 0..<20 {
        let operation = graph.operation()
        queue.addOperation(operation)
        try queue.drainInTime()
        #expect(try operation.result?.get() == 210)
        let value = Monitor<Int?>(nil)
        queue.addOperation { [graph] in
          let sum = try? graph.run()
          value.with { $0 = sum }
        }
        try queue.drainInTime()
        #expect(value.value == 210)
      }
    }
  }

  @Test("row 76.6: cancelling a run cancels asynchronous nodes", arguments: allBackends)
  func asynchronousNodesAreCancelled(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (began, late) = (Counter(), Counter())
      let graph = OperationGraph { graph in
        let nodes = (0..<3).map { _ in
          graph.addTask {
            began.increment()
            while !Task.isCancelled { await Task.yield() }
          }
        }
        graph.add(after: nodes) { late.increment() }
      }
      let operation = graph.operation()
      queue.addOperation(operation)
      try began.wait(for: 3, "the nodes to begin")
      operation.cancel()
      try queue.drainInTime()
      #expect(late.value == 0)
      #expect(throws: CancellationError.self) { try operation.result?.get() }
    }
  }

  @Test("row 76.7: a node may block, fork, wait, and run a graph", arguments: allBackends)
  func nodesDoAnything(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let inner = OperationGraph(of: Int.self) { graph in
        let left = graph.add { 1 }
        return graph.add(left) { $0 + 1 }
      }
      let meeting = Rendezvous(2)
      let graph = OperationGraph(of: Bool.self) { graph in
        let first = graph.add { join({ 1 }, { 2 }) }
        let met = (0..<2).map { _ in graph.add(after: [first]) { meeting.arrive() } }
        let waited = graph.add(after: [first]) {
          let operation = BlockOperation {}
          queue.addOperation(operation)
          operation.waitUntilFinished()
          return OperationQueue.current === queue
        }
        let ran = graph.add(after: [first]) { try inner.run() }
        return graph.add(first, met[0], met[1], waited, ran) { first, one, two, waited, ran in
          first.0 + first.1 == 3 && one && two && waited && ran == 2
        }
      }
      let result = Monitor<Bool?>(nil)
      queue.addOperation {
        let value = (try? graph.run()) ?? false
        result.with { $0 = value }
      }
      try queue.drainInTime()
      #expect(result.value == true)
    }
  }

  @Test("row 76.8: runs of one graph overlap, and one that is released meanwhile ends", arguments: allBackends)
  func runsOverlap(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Counter()
      var graph: OperationGraph<Int>? = OperationGraph(of: Int.self) { graph in
        let numbers = graph.add { (0..<10).map { $0 } }
        let parts = (0..<10).map { index in graph.add(numbers) { $0[index] } }
        var sum = graph.add { 0 }
        for part in parts { sum = graph.add(sum, part) { $0 + $1 } }
        return sum
      }
      for _ in 0..<200 {
        queue.addOperation { [graph] in
          for _ in 0..<5 where (try? graph?.run()) == 45 { count.increment() }
        }
      }
      graph = nil
      try queue.drainInTime()
      #expect(count.value == 1_000)
    }
  }

  @Test("row 76.8: where runs are in order, each node is", arguments: allBackends)
  func runsInOrder(backend: TestBackend) throws {
    try backend.withQueue(workers: 3) { queue in
      let seen = Monitor<[[Int]]>([[], [], []])
      let begun = Counter()
      let graph = OperationGraph(of: Int.self, overlapping: .inOrder) { graph in
        let number = graph.add { begun.increment() }
        let double = graph.add(number) { number in
          seen.with { $0[0].append(number) }
          return 2 * number
        }
        let triple = graph.add(number) { number in
          seen.with { $0[1].append(number) }
          return 3 * number
        }
        return graph.add(double, triple) { double, triple in
          seen.with { $0[2].append(double + triple) }
          return double + triple
        }
      }
      let sums = Monitor<Set<Int>>([])
      for _ in 0..<20 {
        queue.addOperation {
          for _ in 0..<25 { if let sum = try? graph.run() { sums.with { _ = $0.insert(sum) } } }
        }
      }
      try queue.drainInTime()
      let numbers = Array(1...500)
      #expect(seen.value == [numbers, numbers, numbers.map { 5 * $0 }])
      #expect(sums.value == Set(numbers.map { 5 * $0 }))
    }
  }

  @Test("rows 76.5 and 76.9: a task that awaits a run: values, task-local values, cancelling")
  func awaiting() async throws {
    try await AsynchronousTest.run {
      let began = Counter()
      let graph = OperationGraph(of: Int.self) { graph in
        let seen = (0..<50).map { _ in graph.add { Self.number } }
        var sum = graph.addTask { Self.number }
        for node in seen { sum = graph.add(sum, node) { $0 + $1 } }
        return sum
      }
      for number in 0..<20 {
        let sum = try await Self.$number.withValue(number) { try await graph.run() }
        #expect(sum == 51 * number)
      }
      let endless = OperationGraph { graph in
        let first = graph.addTask {
          began.increment()
          while !Task.isCancelled { await Task.yield() }
        }
        graph.add(after: [first]) { began.increment() }
      }
      let task = AsynchronousTest.spawn { try await endless.run() }
      try await AsynchronousTest.eventually("the node to begin") { began.value == 1 }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(began.value == 1)
    }
  }

  /// A backend that has been shut down takes nothing more from outside: who has nodes runs what is left. Operations are
  /// waited for, and their runs may begin tasks.
  @Test(
    "row 76.1: a shutdown beside runs: of a thread outside, of an operation, of a task",
    arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func shutdownBeside(test: TestBackend) throws {
    for round in 0..<20 {
      let backend = test.leftRunning()
      let (begun, ended) = (Gate(), Gate())
      let ran = Counter()
      let graph = OperationGraph(of: Int.self) { graph in
        let first = graph.add {
          begun.open()
          if round % 2 == 0 { giveOthersAChance() }
        }
        let middle = (0..<50).map { number in
          round % 3 == 0 ? graph.add(after: [first]) { number } : graph.addTask(after: [first]) { number }
        }
        var sum = graph.add(after: [first]) { 0 }
        for node in middle {
          graph.add(after: [node]) { ran.increment() }
          sum = graph.add(sum, node) { $0 + $1 }
        }
        return sum
      }
      let sums = Monitor<[Int?]>([])
      @Sendable func note(_ sum: Int?) { sums.with { $0.append(sum) } }
      let queue = OperationQueue(backend: backend)
      switch round % 3 {
      case 0: startThread { note(try? backend.run { try graph.run() }) }
      case 1: queue.addOperation { note(try? graph.run()) }
      default: queue.addTask { note(try? await graph.run()) }
      }
      try begun.wait("the first node")
      startThread {
        (backend as? StealingBackend)?.shutdown()
        (backend as? ThreadPoolBackend)?.shutdown()
        (backend as? DeterministicBackend)?.shutdown()
        ended.open()
      }
      #expect(sums.wait { $0 == [1_225] }, "\(sums.value), round \(round)")
      #expect(ran.value == 50)
      try ended.wait("the shutdown")
    }
  }

  @Test("row 76.9: nodes see the task-local values of where the run began", arguments: allBackends)
  func taskLocalValues(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let graph = OperationGraph(of: Int.self) { graph in
        let seen = (0..<100).map { _ in graph.add { Self.number } }
        var sum = graph.add { 0 }
        for node in seen { sum = graph.add(sum, node) { $0 + $1 } }
        return sum
      }
      for number in 0..<20 {
        let sum = try Self.$number.withValue(number) { try pool.run { try graph.run() } }
        #expect(sum == 100 * number)
      }
    }
  }

  @TaskLocal static var number = -1

  @Test("row 76.10: the longest way goes first where the order says so")
  func criticalPath() throws {
    try TestBackend.stealing.withBackend(workers: 1) { pool in
      let began = Monitor<[String]>([])
      let graph = OperationGraph(order: .criticalPath) { graph in
        let root = graph.add {}
        for (name, cost) in [("short", 1.0), ("long", 5.0), ("middle", 3.0)] {
          let first = graph.add(name: name, cost: cost, after: [root]) { began.with { $0.append(name) } }
          graph.add(cost: 1, after: [first]) {}
        }
      }
      for _ in 0..<3 {
        began.with { $0 = [] }
        try OperationQueue(backend: pool).onThread { try graph.run() }
        #expect(began.value == ["long", "middle", "short"])
      }
    }
  }

  @Test("row 76.11: 200,000 nodes in a chain are made, run and freed without recursion", arguments: allBackends)
  func longChains(backend: TestBackend) throws {
    let count = Counter()
    try backend.withBackend { pool in
      let graph = OperationGraph { graph in
        var last = graph.add { count.increment() }
        for _ in 1..<200_000 { last = graph.add(after: [last]) { count.increment() } }
      }
      try pool.run { try graph.run() }
    }
    #expect(count.value == 200_000)
  }

  /// One worker runs a node, and the other an operation, until all is there. What does the other run then?
  @Test(
    "row 76.14: nodes that wait have the level of the operation, also when it rises",
    arguments: [TestBackend.stealing, .threadPool], [false, true])
  func levels(backend: TestBackend, rises: Bool) throws {
    try backend.withBackend(workers: 2, fairnessInterval: 0) { pool in
      let queue = OperationQueue(backend: pool)
      let (nodeBegan, otherBegan) = (Gate(), Gate())
      let (node, other) = (SpinFlag(), SpinFlag())
      let order = EventLog<String>()
      let graph = OperationGraph { graph in
        let root = graph.add {}
        graph.add(after: [root]) {
          nodeBegan.open()
          node.spin()
        }
        for _ in 0..<4 { graph.add(after: [root]) { order.append("node") } }
      }
      queue.addOperation {
        otherBegan.open()
        other.spin()
      }
      try otherBegan.wait("the other worker")
      let operation = BlockOperation { try? graph.run() }
      operation.queuePriority = .veryLow
      queue.addOperation(operation)
      try nodeBegan.wait("the node")
      for _ in 0..<4 { queue.addOperation { order.append("operation") } }
      if rises { operation.queuePriority = .veryHigh }
      other.set()
      try order.wait(count: 1, "something to run")
      node.set()
      try queue.drainInTime()
      #expect(order.events.first == (rises ? "node" : "operation"))
    }
  }

  @Test("row 76.13: whyNotStarted() says which nodes run, and what waits for them", arguments: allBackends)
  func diagnosis(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (began, gate) = (Gate(), Gate())
      let graph = OperationGraph { graph in
        let first = graph.add(name: "connect") {}
        let load = graph.add(name: "load", after: [first]) {
          began.open()
          gate.pass()
        }
        graph.add(name: "page", after: [load]) {}
      }
      let operation = graph.operation()
      let block = BlockOperation { try? graph.run() }
      queue.addOperation(operation)
      try began.wait("the node")
      queue.addOperation(block)
      let said = operation.whyNotStarted().description
      #expect(said.contains("runs a graph: 2 of 3 nodes have begun"), "\(said)")
      #expect(said.contains("\"load\" runs; \"page\" waits for it"), "\(said)")
      gate.open()
      try queue.drainInTime()
      #expect(!operation.whyNotStarted().description.contains("graph:"))
    }
  }

  @Test("row 76.1: a graph without nodes ends at once", arguments: allBackends)
  func emptyGraphs(backend: TestBackend) async throws {
    try backend.withBackend { pool in try pool.run { try OperationGraph { _ in }.run() } }
    try await AsynchronousTest.run { try await OperationGraph { _ in }.run() }
  }
}

extension OperationQueue {
  /// Runs a body in an operation, and waits.
  fileprivate func onThread(_ body: @escaping @Sendable () throws -> Void) throws {
    let failed = Monitor(false)
    addOperation { do { try body() } catch { failed.with { $0 = true } } }
    try drainInTime()
    #expect(!failed.value)
  }
}
