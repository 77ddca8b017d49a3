import HarnessResults
import HarnessStatistics
import HarnessWords
import Scheduling
import Simulation
import Testing
import VirtualScheduling
import Workloads

@Suite struct SimulationTests {
  private func graph(_ text: String, workers: Int = 4, work: Double = 1_000) throws -> SimulatedGraph {
    SimulatedGraph(try GraphChoice(text, seed: 1).graph(workers: workers, nanoseconds: work, seed: 1))
  }

  @Test func everyGraphRunsOnEveryNumberOfWorkers() throws {
    let sizes = ["splitting": "(depth=6)", "random": "(tasks=200;layers=8)", "generated": ""]
    for (name, _) in GraphChoice.names {
      let graph = try graph(name + (sizes[name] ?? "(width=8;steps=6)"))
      for workers in [1, 3, 64] {
        let result = Simulation(
          graph, strategy: .stealing(.init()), workers: workers, costs: CostModel.builtIn.costs, seed: 1
        ).run()
        #expect(result.tasks == graph.count && result.statistics.pool.jobs == graph.count, "\(name)")
        #expect(Double(result.makespan) >= result.lowerBound, "\(name)")
        #expect(abs(result.workShare + result.pathShare + result.schedulerShare - Double(result.makespan)) < 1)
      }
    }
  }

  @Test func aSeedGivesTheSameRun() throws {
    let graph = try graph("random(tasks=400;layers=8)")
    func run(_ seed: UInt64) -> SimulationResult {
      Simulation(graph, strategy: .stealing(.init()), workers: 8, costs: CostModel.builtIn.costs, seed: seed).run()
    }
    #expect(run(1).makespan == run(1).makespan && run(1).statistics == run(1).statistics)
    #expect(Set((1...8).map { run($0).statistics }).count > 1)
  }

  @Test func scheduleBoundsHold() {
    let table = BoundChecks.graham(graphs: 2)
    #expect(table.failures.isEmpty, "\(table.text())")
  }

  @Test func theOrderOfTheStrategiesIsThePublishedOne() {
    let table = PublishedChecks.table(depth: 15, seeds: 1)
    #expect(table.failures.isEmpty, "\(table.text())")
  }

  @Test func withOneWorkerAndInOrderThereIsNoRankError() throws {
    var strategy = StealingStrategy()
    strategy.successor = .queued
    let result = Simulation(
      try graph("trivial(width=50;steps=2)"), strategy: .stealing(strategy), workers: 1, costs: .none, seed: 1
    ).run()
    #expect(result.rankError == 0)
    strategy.ownEnd = .lifo
    let newest = Simulation(
      try graph("splitting(depth=8)"), strategy: .stealing(strategy), workers: 1, costs: .none, seed: 1
    ).run()
    #expect(newest.rankError > 0)
  }

  @Test func aStealBetweenSocketsIsDearer() throws {
    let graph = try graph("splitting(depth=9)")
    func makespan(_ topology: VirtualTopology) -> Int64 {
      var costs = VirtualCosts()
      costs.steal = VirtualCosts.ByDistance(100, otherGroup: 1_000, otherSocket: 10_000)
      var simulation = Simulation(graph, strategy: .stealing(.init()), workers: 16, costs: costs, seed: 1)
      simulation.topology = topology
      return simulation.run().makespan
    }
    let near = makespan(.flat)
    #expect(makespan(VirtualTopology(workersPerGroup: 2, workersPerSocket: 1_024)) > near)
    #expect(makespan(VirtualTopology(workersPerGroup: 2, workersPerSocket: 2)) > near)
  }

  @Test func aPlanRunsEveryCellOnceForEachSeed() throws {
    let plan = SimulationPlan(
      graphs: [try GraphChoice("no_comm(width=2p;steps=3)", seed: 1)], works: [1_000, 5_000],
      backends: try SimulatedBackend.list(["stealing,threadpool(order=fifo)"]), workers: [1, 2], seeds: [1, 2, 3],
      graphSeed: 1, model: .builtIn, topology: .flat)
    var seen: [SimulationPlan.Cell: [UInt64]] = [:]
    try plan.run { cell, seed, result in
      seen[cell, default: []].append(seed)
      #expect(result.tasks == 6 * cell.workers)
      let line = SimulationRows.line(cell, seed: seed, model: "m", result)
      #expect(line.hasPrefix("simulated,1,no_comm,imbalance=0;steps=3;width=2p,"))
      #expect(line.split(separator: ",").count == SimulationRows.header.count)
    }
    #expect(seen.count == 8 && seen.values.allSatisfy { $0 == [1, 2, 3] })
    #expect(plan.runCount == 24)
  }

  @Test func theChangesOfAnAblationFollowTheirPool() throws {
    let all = try SimulatedBackend.list(["stealing,threadpool(order=fifo)"], withChanges: true).map(\.name)
    #expect(all.first == "stealing" && all.last == "threadpool(order=fifo)")
    #expect(all.contains("stealing(own=lifo)") && all.contains("stealing(searchers=adaptive)") && all.count > 30)
  }

  /// Two workers. First a long task that was added last goes first; then one on which two others hang, all alike.
  @Test func anOrderOfNodesSaysWhichTaskIsNext() throws {
    func makespan(_ order: NodeOrder, _ inputs: [[Int]], _ works: [Double]) -> Int64 {
      let graph = SimulatedGraph(TaskGraph(inputs: inputs, nanoseconds: works))
      let backend = try? SimulatedBackend("graph(order=\(order.rawValue))")
      guard let backend else { return 0 }
      var simulation = Simulation(graph, strategy: backend.strategy, workers: 2, costs: .none, seed: 1)
      simulation.order = order
      let result = simulation.run()
      #expect(result.statistics.pool.jobs == graph.count)
      return result.makespan
    }
    let apart: [[Int]] = [[], [], []]
    #expect(makespan(.criticalPath, apart, [1, 1, 2]) == 2 && makespan(.longestChain, apart, [1, 1, 2]) == 3)
    let chain: [[Int]] = [[], [], [], [2], [3]]
    #expect(makespan(.longestChain, chain, [1, 1, 1, 1, 1]) == 3)
    #expect(makespan(.criticalPath, chain, [3, 1, 1, 1, 1]) == 4)
  }

  @Test func allGraphsHaveATableTogether() throws {
    let plan = SimulationPlan(
      graphs: try ["no_comm(width=4;steps=3)", "splitting(depth=5)"].map { try GraphChoice($0, seed: 1) },
      works: [1_000], backends: try SimulatedBackend.list(["graph"], withChanges: true), workers: [1, 2],
      seeds: [1, 2], graphSeed: 1, model: .builtIn, topology: .flat)
    #expect(plan.backends.map(\.name) == ["graph", "graph(order=critical-path)", "graph(order=longest-chain)"])
    var table = SimulationTable()
    try plan.run { cell, _, result in table.add(cell, result) }
    let lines = table.text(model: .builtIn, sweeps: false).split(separator: "\n").map(String.init)
    let place = try #require(lines.firstIndex { $0.hasPrefix("all 2 graphs: the makespan over") })
    let rows = lines.dropFirst(place + 2).prefix(3)
    #expect(rows.allSatisfy { $0.contains("graph") && $0.split(separator: "[").count == 3 })
  }

  @Test func aSweepEndsWhereWorkersAreIdle() throws {
    var plan = SimulationPlan(
      graphs: [try GraphChoice("stencil_1d(width=4p;steps=8)", seed: 1)], works: [],
      backends: try SimulatedBackend.list(["stealing"]), workers: [8], seeds: [1], graphSeed: 1, model: .builtIn,
      topology: .flat)
    plan.sweeps = true
    var table = SimulationTable()
    var works: [Double] = []
    try plan.run { cell, _, result in
      works.append(cell.work)
      table.add(cell, result)
    }
    #expect(works.count > 4 && works == works.sorted(by: >))
    let text = table.text(model: .builtIn, sweeps: true)
    #expect(text.contains("METG(50 %)") && text.hasPrefix("simulated: no CPU ran these tasks."))
  }

  @Test func wrongGraphsAndPoolsAreRefusedWithOneLine() {
    func complaint(_ body: () throws -> Void) -> String? {
      do { try body() } catch { return (error as? Complaint)?.description }
      return nil
    }
    #expect(complaint { _ = try GraphChoice("stencil", seed: 1) }?.hasPrefix("there is no graph 'stencil'") == true)
    #expect(
      complaint { _ = try GraphChoice("fft(depth=2)", seed: 1) }
        == "graph fft has no 'depth': it has width, steps, imbalance")
    #expect(complaint { _ = try GraphChoice("fft(width=0)", seed: 1) }?.contains("width=0 is out of range") == true)
    #expect(
      complaint { _ = try GraphChoice("fft(width=4", seed: 1) }?.contains("is no graph: sizes stand as in") == true)
    #expect(
      complaint { _ = try GraphChoice("stencil_1d(steps=1;steps=2)", seed: 1) }
        == "'stencil_1d(steps=1;steps=2)' has 'steps' twice: each size is given once")
    #expect(complaint { _ = try GraphChoice("none.json", seed: 1) } == "none.json: there is no such graph file")
    #expect(complaint { _ = try SimulatedBackend("dispatch") }?.hasPrefix("'dispatch' cannot be simulated") == true)
    #expect(
      complaint { _ = try SimulatedBackend("graph(order=new)") }
        == "--backend 'graph(order=new)': a graph has these orders: graph, graph(order=critical-path), "
        + "graph(order=longest-chain)")
    #expect(
      complaint { _ = try SimulatedBackend.list(["graph"], forks: true) }
        == "'graph' has nodes, and --forks makes forks of all tasks: leave one out")
    #expect(complaint { _ = try SimulatedBackend("stealing(own=new)") }?.contains("'own' has no choice 'new'") == true)
    #expect(
      complaint { _ = try GraphChoice("all_to_all(width=4096)", seed: 1).graph(workers: 1, nanoseconds: 1, seed: 1) }?
        .contains("tasks and edges") == true)
  }
}
