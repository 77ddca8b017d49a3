import VirtualScheduling

/// One run of a task graph on a pool of virtual workers.
package struct Simulation: Sendable {
  package let graph: SimulatedGraph
  package var strategy: VirtualStrategy
  package var workers: Int
  package var costs: VirtualCosts
  package var topology = VirtualTopology.flat
  package var seed: UInt64
  /// How long one thread takes to add a task to its queue before the first task may run, in nanoseconds; 0: the tasks
  /// are there, and those without inputs are submitted at once.
  package var adding: Int64 = 0
  /// Whether the tasks that an end makes ready are forks, as a `join` makes them, and not operations.
  package var forks = false
  /// Where the tasks are nodes of a graph that is run as a whole: which of those that are ready is the next one.
  package var order = NodeOrder.added
  /// Whether to count rank errors, which takes more time and memory.
  package var measuresRank = true

  package init(
    _ graph: SimulatedGraph, strategy: VirtualStrategy, workers: Int, costs: VirtualCosts, seed: UInt64
  ) {
    (self.graph, self.strategy, self.workers) = (graph, strategy, workers)
    (self.costs, self.seed) = (costs, seed)
  }

  /// Runs all tasks. O((tasks + edges) log n) for n events at a time, whatever the number of workers.
  package func run() -> SimulationResult {
    let pool = VirtualPool(
      workers: workers, strategy: strategy, costs: costs, topology: topology, choices: VirtualChoices(seed: seed),
      isWarm: true, measuresRank: measuresRank)
    var waiting = graph.inputCounts
    var freed: [(job: UInt, level: Int)] = []
    var done = 0
    var makespan: Int64 = 0
    let level = VirtualPool.middleLevel
    // A job is whatever task is the first one when the job begins, so that there is a job for each task that is ready.
    var ready = order == .added ? nil : ReadyTasks(graph.sorted(order))
    _ = pool.schedule(at: adding * Int64(graph.count))
    while let step = pool.next() {
      switch step {
      case .timer:
        for task in graph.sources { ready?.add(task) }
        pool.submit(graph.sources.map { (UInt($0), level) })
      case .run(let worker, let job): pool.works(worker, for: graph.durations[ready?.begin(on: worker) ?? Int(job)])
      case .ended(let worker, let job):
        let task = ready?.running[worker] ?? Int(job)
        let dependents = Int(graph.starts[task])..<Int(graph.starts[task + 1])
        freed.removeAll(keepingCapacity: true)
        for index in dependents {
          let dependent = Int(graph.dependents[index])
          waiting[dependent] -= 1
          if waiting[dependent] == 0 {
            freed.append((UInt(dependent), level))
            ready?.add(dependent)
          }
        }
        done += 1
        makespan = pool.now
        // As the end of an operation does: the first that became ready is the successor, the others are submitted.
        let successor = freed.first
        if forks {
          pool.fork(Array(freed.dropFirst()), by: worker)
        } else if freed.count == 2 {
          pool.submit(freed[1].job, level: level, by: worker)
        } else if freed.count > 2 {
          pool.submit(Array(freed.dropFirst()), by: worker)
        }
        pool.finished(worker, edges: dependents.count, successor: successor)
      }
      if done == graph.count { break }
    }
    precondition(done == graph.count, "the simulation has lost \(graph.count - done) tasks")
    return SimulationResult(graph: graph, workers: workers, makespan: makespan, statistics: pool.statistics)
  }
}

/// The tasks that are ready, by their places in an order.
private struct ReadyTasks {
  private let tasks: [Int]
  private var places: [Int]
  private var ready = NumberSet()
  /// The task that each worker runs.
  private(set) var running: [Int: Int] = [:]

  init(_ tasks: [Int]) {
    self.tasks = tasks
    places = [Int](repeating: 0, count: tasks.count)
    for (place, task) in tasks.enumerated() { places[task] = place }
  }

  mutating func add(_ task: Int) { ready.set(places[task], to: true) }

  mutating func begin(on worker: Int) -> Int? {
    guard let place = ready.next(from: 0) else { return nil }
    ready.set(place, to: false)
    running[worker] = tasks[place]
    return tasks[place]
  }
}

/// What a simulated run gave. All times are nanoseconds.
package struct SimulationResult: Sendable {
  package let workers: Int
  package let tasks: Int
  package let edges: Int
  package let makespan: Int64
  package let totalWork: Int64
  package let criticalPath: Int64
  package let statistics: VirtualStatistics

  init(graph: SimulatedGraph, workers: Int, makespan: Int64, statistics: VirtualStatistics) {
    (self.workers, self.makespan, self.statistics) = (workers, makespan, statistics)
    (tasks, edges) = (graph.count, graph.edges)
    (totalWork, criticalPath) = (graph.totalWork, graph.criticalPath)
  }

  /// No schedule is shorter.
  package var lowerBound: Double { max(Double(totalWork) / Double(workers), Double(criticalPath)) }

  /// The shortest possible schedule divided by the makespan, as in `dependencies/graph`.
  package var efficiency: Double { makespan == 0 ? 1 : lowerBound / Double(makespan) }

  /// The share of the workers' time in which they ran bodies.
  package var utilisation: Double { makespan == 0 ? 1 : workShare / Double(makespan) }

  /// How long the work alone takes when every worker is busy.
  package var workShare: Double { Double(totalWork) / Double(workers) }
  /// What the longest path takes beyond that.
  package var pathShare: Double { lowerBound - workShare }
  /// The rest: what jobs, edges, steals and wakes cost, and idle workers while tasks were ready. The three shares
  /// together are the makespan.
  package var schedulerShare: Double { Double(makespan) - lowerBound }

  /// How many queued jobs, on average over all tasks, should have gone before a job that began.
  package var rankError: Double { tasks == 0 ? 0 : Double(statistics.rankErrors) / Double(tasks) }
}
