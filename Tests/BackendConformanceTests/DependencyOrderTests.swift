import Operations
import TestSupport
import Testing

/// Row 18: shapes of dependency graphs, within a queue and across queues and backends.
@Suite("Dependency order")
struct DependencyOrderTests {
  /// Runs a graph in which each operation checks that everything it depends on has run before.
  private func check(
    _ queues: [OperationQueue], count: Int, edges: (Int) -> [Int]
  ) throws {
    let ran = Monitor(Set<Int>())
    let violations = EventLog<String>()
    var operations: [CountingOperation] = []
    for index in 0..<count {
      let inputs = edges(index)
      let operation = CountingOperation { _ in
        ran.with { ran in
          for input in inputs where !ran.contains(input) { violations.append("\(index) ran before \(input)") }
          ran.insert(index)
        }
      }
      for each in inputs { operation.addDependency(operations[each]) }
      operations.append(operation)
    }
    for (index, operation) in operations.enumerated().reversed() {
      queues[index % queues.count].addOperation(operation)
    }
    for queue in queues { try queue.drainInTime() }
    #expect(violations.events == [])
    #expect(operations.allSatisfy { $0.mains.value == 1 && $0.starts.value == 1 })
  }

  @Test("row 18: a dependent sees what its dependencies wrote", arguments: allBackends)
  func dependenciesPublish(backend: TestBackend) throws {
    /// Written by one operation, read by the next: no lock on purpose, the dependency is what orders them.
    final class Unsynchronised: @unchecked Sendable { var value = 0 }
    try backend.withQueue { queue in
      let shared = Unsynchronised()
      var last: Operation?
      for _ in 0..<500 {
        let next = BlockOperation { shared.value += 1 }
        if let last { next.addDependency(last) }
        queue.addOperation(next)
        last = next
      }
      try queue.drainInTime()
      #expect(shared.value == 500)
    }
  }

  @Test("row 18: chain, tree, diamonds and a random graph, added backwards", arguments: allBackends)
  func shapes(backend: TestBackend) throws {
    try backend.withQueue { queue in
      try check([queue], count: 300) { $0 == 0 ? [] : [$0 - 1] }
      try check([queue], count: 511) { $0 == 0 ? [] : [($0 - 1) / 2] }
      try check([queue], count: 301) { $0 == 0 ? [] : $0 % 3 == 0 ? [$0 - 1, $0 - 2] : [$0 - $0 % 3] }
      var generator = SeededGenerator(seed: 42)
      let edges = (0..<400).map { index in
        Array(Set((0..<min(index, 5)).map { _ in Int.random(in: 0..<index, using: &generator) }))
      }
      try check([queue], count: 400) { edges[$0] }
    }
  }

  @Test("row 18: fan-in and fan-out", arguments: allBackends)
  func fans(backend: TestBackend) throws {
    try backend.withQueue { queue in
      try check([queue], count: 1_001) { $0 == 1_000 ? Array(0..<1_000) : [] }
      try check([queue], count: 1_001) { $0 == 0 ? [] : [0] }
    }
  }

  @Test("row 18: dependencies across queues of one backend", arguments: allBackends)
  func acrossQueues(backend: TestBackend) throws {
    try backend.withQueues { first, second in
      second.maxConcurrentOperationCount = 1
      try check([first, second], count: 400) { $0 < 2 ? [] : [$0 - 1, $0 - 2] }
    }
  }

  @Test("row 18: dependencies across backends", arguments: allBackends, allBackends)
  func acrossBackends(first: TestBackend, second: TestBackend) throws {
    try first.withQueue { here in
      try second.withQueue { there in
        try check([here, there], count: 200) { $0 == 0 ? [] : [$0 - 1] }
        try check([here, there], count: 202) { $0 == 201 ? Array(0..<201) : $0 == 0 ? [] : [0] }
      }
    }
  }

  @Test("row 18: the other queue is suspended", arguments: allBackends)
  func acrossQueuesSuspended(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      there.isSuspended = true
      let dependency = CountingOperation()
      let operation = CountingOperation()
      operation.addDependency(dependency)
      here.addOperation(operation)
      there.addOperation(dependency)
      giveOthersAChance()
      #expect(dependency.starts.value == 0 && operation.starts.value == 0)
      there.isSuspended = false
      try here.drainInTime()
      #expect(dependency.mains.value == 1 && operation.mains.value == 1)
    }
  }

  @Test("row 18: an operation in no queue may be a dependency of operations in several", arguments: allBackends)
  func dependencyInNoQueue(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      let dependency = Operation()
      let operations = (0..<50).map { _ in CountingOperation() }
      for (index, operation) in operations.enumerated() {
        operation.addDependency(dependency)
        (index.isMultiple(of: 2) ? here : there).addOperation(operation)
      }
      giveOthersAChance()
      #expect(operations.allSatisfy { $0.starts.value == 0 })
      dependency.start()
      try here.drainInTime()
      try there.drainInTime()
      #expect(operations.allSatisfy { $0.mains.value == 1 })
    }
  }
}
