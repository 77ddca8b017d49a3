import Simulation
import Testing
import VirtualScheduling
import Workloads

/// Schedules that were worked out by hand.
@Suite struct HandWorkedTests {
  private func run(
    _ inputs: [[Int]], _ nanoseconds: [Double], workers: Int, _ set: (inout VirtualCosts) -> Void = { _ in }
  ) -> SimulationResult {
    var costs = VirtualCosts()
    set(&costs)
    return Simulation(
      SimulatedGraph(TaskGraph(inputs: inputs, nanoseconds: nanoseconds)), strategy: .stealing(.init()),
      workers: workers, costs: costs, seed: 1
    ).run()
  }

  @Test func aChainTakesTheSumOfItsWork() {
    let chain = (0..<10).map { $0 == 0 ? [] : [$0 - 1] }
    let result = run(chain, Array(repeating: 100, count: 10), workers: 4)
    #expect(result.makespan == 1_000)
    #expect(result.criticalPath == 1_000 && result.efficiency == 1)
    #expect(result.pathShare == 750 && result.workShare == 250 && result.schedulerShare == 0)
  }

  @Test func anEdgeAndAnOperationCostWhatTheModelSays() {
    // Task 0 is taken from outside: 50 + 7. Each task behind it: an edge and an operation. The first wake takes 1,000.
    let chain = (0..<10).map { $0 == 0 ? [] : [$0 - 1] }
    let result = run(chain, Array(repeating: 100, count: 10), workers: 1) {
      $0.operation = 7
      $0.edge = 3
      $0.takeOutside = 50
      $0.wakeLatency = 1_000
    }
    #expect(result.makespan == 1_000 + 50 + 10 * 107 + 9 * 3)
    #expect(result.schedulerShare == Double(result.makespan - 1_000))
  }

  @Test func independentTasksShareTheWorkers() {
    // Seven tasks of 100 on two workers: four in a row on one of them.
    let result = run(Array(repeating: [], count: 7), Array(repeating: 100, count: 7), workers: 2)
    #expect(result.makespan == 400)
    #expect(result.statistics.pool.jobs == 7)
  }

  @Test func aForkWithOneLongBranchTakesTheLongOne() {
    // 0 forks into 1 (300), 2 (100) and 3 (100), and 4 joins them: 50 + 300 + 50 on two workers.
    let result = run([[], [0], [0], [0], [1, 2, 3]], [50, 300, 100, 100, 50], workers: 2)
    #expect(result.makespan == 400 && result.lowerBound == 400)
  }

  @Test func theSecondWorkerPaysForItsSteal() {
    // Task 0 makes 1 and 2 ready. Worker 0 runs 1; worker 1 is woken for 2, steals it, and misses its cache.
    let result = run([[], [0], [0]], [100, 10_000, 10_000], workers: 2) {
      $0.wakeLatency = 1_000
      $0.steal.sameGroup = 40
      $0.miss.sameGroup = 5
    }
    // Worker 0: woken at 1,000, misses (the job is from outside), runs 100. Worker 1: woken at 1,105.
    #expect(result.makespan == 1_000 + 5 + 100 + 1_000 + 40 + 5 + 10_000)
    #expect(result.statistics.pool.steals == 1 && result.statistics.pool.wakes == 2)
  }

  @Test func addingTakesTheTimeOfOneThread() {
    var simulation = Simulation(
      SimulatedGraph(TaskGraph(inputs: [[], []], nanoseconds: [100, 100])), strategy: .stealing(.init()), workers: 2,
      costs: .none, seed: 1)
    simulation.adding = 30
    #expect(simulation.run().makespan == 160)
  }
}
