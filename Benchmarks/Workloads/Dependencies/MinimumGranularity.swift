import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// METG(50 %) and METG(95 %) of a graph pattern: how small tasks may be before the cost of running them takes half, or
/// a twentieth, of what the machine can do. The definition is in `METG`.
///
/// One process measures the peak (all CPUs spinning, without any scheduler). The process then reduces the work per task
/// of one fixed graph, in steps of the square root of two, until the efficiency is far below one half. A run is
/// building, running and releasing the graph. Of the runs at one granularity the fastest counts, as in the measurement
/// of the peak, because both show what is possible without disturbance. A curve that does not pass one half is swept
/// again, a few times.
struct MinimumGranularity: Workload {
  let name = BenchmarkName("dependencies", "metg")
  let summary = "the smallest task granularity that reaches 50 % and 95 % of the peak"
  let metrics = METG.levels.map { Metric.metg($0) } + [Metric.efficiency, .crossings]
  let headlines = METG.levels.map { Metric.metg($0) } + [Metric.crossings]
  /// The calling thread alone cannot reach half of what all CPUs can do.
  let needs = Abilities.threads
  let repeats = RepeatPolicy.samples(5, seconds: 2)
  /// When other programs use the CPUs, sweeps are repeated and each sweep takes longer.
  let timeLimit: Double? = 60

  func parameterSets() -> [Parameters] { [parameters(.stencil1D, imbalance: 0)] }

  func needs(_ parameters: Parameters) -> Abilities {
    parameters["run"] == nil ? needs : needs.union(.recordedGraphs)
  }

  func extendedParameterSets() -> [Parameters] {
    [parameters(.stencil1D, imbalance: 0).merging(["run": "again"])] + patterns
  }

  private var patterns: [Parameters] {
    GraphPattern.allCases.flatMap { pattern in [0, 1].map { parameters(pattern, imbalance: $0) } }
      .filter { !parameterSets().contains($0) }
  }

  private func parameters(_ pattern: GraphPattern, imbalance: Int) -> Parameters {
    var parameters: Parameters = [
      "pattern": pattern.rawValue, "width": "8", "steps": "16", "imbalance": "\(imbalance)",
    ]
    if pattern.hasRadix { parameters["radix"] = "5" }
    return parameters
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    let runner = ClosureGraph<S>(graph, setting)
    return trial(graph, setting) { work, timing in
      runner.scale(by: work)
      try runner.run(&timing)
    }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    if setting.parameters["run"] == "again" {
      let runner = KeptGraph<S>(graph, setting)
      return trial(graph, setting) { work, timing in
        runner.scale(by: work)
        try runner.run(&timing)
      }
    }
    let runner = LinkedOperations<S>(graph, setting)
    return trial(graph, setting) { work, timing in
      runner.scale(by: work)
      try runner.run(&timing)
    }
  }

  /// The program of the peer makes the sweep. The readings are derived here, with the peak of this process.
  func peerInput(_ setting: Setting) throws -> PeerInput {
    let graph = try graph(setting)
    let cores = min(setting.workers, CPUs.available)
    let peak = MachinePeak.measure(threads: cores, spin: setting.spin)
    let constants = METG.Sweep(tasks: graph.count, cores: cores, load: graph.totalWork, peak: peak)
    return PeerInput(
      fields: [
        (key: "cores", value: "\(cores)"), (key: "load", value: "\(graph.totalWork)"), (key: "peak", value: "\(peak)"),
      ] + GranularitySweep.limits, file: .graph(graph),
      derive: { try METG.readings($0, constants) }, isSweep: true)
  }

  /// The graph with one nanosecond of nominal work in a task.
  private func graph(_ setting: Setting) throws -> TaskGraph {
    try GraphPatterns().graph(
      Setting(
        parameters: setting.parameters.merging(["work_ns": "1"]), workers: setting.workers, seed: setting.seed,
        spin: setting.spin))
  }

  private func trial(
    _ graph: TaskGraph, _ setting: Setting, run: @escaping (_ work: Double, inout GraphTiming) throws -> Void
  ) -> Trial {
    let cores = min(setting.workers, CPUs.available)
    let sweep = GranularitySweep(graph, cores: cores) { work in
      var timing = GraphTiming()
      try run(work, &timing)
      return Double(timing.elapsed.wall)
    }
    var peak = 0.0
    return Trial(operationsPerRepeat: graph.count) { repeats in
      func lookAtPeak() { peak = max(peak, MachinePeak.measure(threads: cores, spin: setting.spin)) }
      lookAtPeak()
      let makespans = try sweep.run(repeats, peak: peak)
      // The peak is measured after the sweep too, because another guest of the host may have had a CPU before the sweep
      // and not during the sweep.
      lookAtPeak()
      return Value(try METG.readings(makespans, sweep.constants(peak: peak)))
    }
  }
}

/// Chooses the granularities, and how often each runs.
final class GranularitySweep {
  /// The ladder of nominal work in a task, in nanoseconds: two steps halve the work. Larger steps would shift
  /// METG(95 %) by some percent, because the curve between two points is not the straight line of the interpolation.
  private static let step = 2.0.squareRoot()
  static let largest = 1_024_000.0
  private static let smallest = 30.0
  /// The granularity at which the search for the largest needed granularity begins.
  private static let first = 16_000.0
  /// When tasks reach this efficiency, larger tasks show nothing more.
  private static let plenty = 0.97
  /// From this efficiency on, larger tasks must raise the efficiency by `gain` to be worth running.
  private static let enough = 0.6
  private static let gain = 0.01
  /// When the efficiency is below this for two granularities in a row, smaller tasks show nothing more.
  private static let little = 0.2
  private static let lowInARow = 2
  /// The most runs of one granularity. Fewer run when they take longer than `runTime` nanoseconds.
  private static let runs = 5
  private static let runTime = 8e6

  /// The most additional sweeps, in case other programs used the CPUs.
  private static let attempts = 10

  /// The limits above, for the program of a peer, which makes the sweep itself.
  static let limits: [(key: String, value: String)] = [
    (key: "sweep_first", value: "\(first)"), (key: "sweep_largest", value: "\(largest)"),
    (key: "sweep_smallest", value: "\(smallest)"), (key: "sweep_plenty", value: "\(plenty)"),
    (key: "sweep_little", value: "\(little)"), (key: "sweep_runs", value: "\(runs)"),
    (key: "sweep_run_time", value: "\(runTime)"), (key: "sweep_step", value: "\(step)"),
    (key: "sweep_enough", value: "\(enough)"), (key: "sweep_gain", value: "\(gain)"),
    (key: "sweep_attempts", value: "\(attempts)"), (key: "sweep_low_in_a_row", value: "\(lowInARow)"),
  ]

  private let graph: TaskGraph
  private let cores: Int
  private let makespan: (_ work: Double) throws -> Double
  /// The largest needed granularity. The first sweep finds it, and is a warm-up.
  private var top: Double?

  init(_ graph: TaskGraph, cores: Int, makespan: @escaping (_ work: Double) throws -> Double) {
    (self.graph, self.cores, self.makespan) = (graph, cores, makespan)
  }

  func constants(peak: Double) -> METG.Sweep {
    METG.Sweep(tasks: graph.count, cores: cores, load: graph.totalWork, peak: peak)
  }

  /// The shortest makespan at each granularity over `sweeps` sweeps, largest granularity first.
  func run(_ sweeps: Int, peak: Double) throws -> [(work: Double, makespan: Double)] {
    let constants = constants(peak: peak)
    let top = try self.top ?? findTop(constants)
    self.top = top
    var shortest: [Double: Double] = [:]
    for sweep in 0..<sweeps + Self.attempts {
      if sweep >= sweeps, try isWhole(shortest, constants) { break }
      var work = top
      var low = 0
      while work >= Self.smallest, low < Self.lowInARow {
        let makespan = min(try best(work), shortest[work] ?? .infinity)
        shortest[work] = makespan
        low = constants.point(work: work, makespan: makespan).efficiency < Self.little ? low + 1 : 0
        work /= Self.step
      }
    }
    return shortest.sorted { $0.key > $1.key }.map { (work: $0.key, makespan: $0.value) }
  }

  /// Whether the curve passes one half.
  private func isWhole(_ shortest: [Double: Double], _ constants: METG.Sweep) throws -> Bool {
    let points = shortest.map { constants.point(work: $0, makespan: $1) }
    if case .crosses = try METG.find(0.5, points) { return true }
    return false
  }

  private func findTop(_ constants: METG.Sweep) throws -> Double {
    func efficiency(_ work: Double) throws -> Double {
      constants.point(work: work, makespan: try best(work)).efficiency
    }
    var work = Self.first
    var reached = try efficiency(work)
    while work < Self.largest, reached < Self.plenty {
      let next = try efficiency(work * 2)
      // When other programs take the CPUs, longer runs only suffer more.
      if reached > Self.enough, next < reached + Self.gain { break }
      work *= 2
      reached = next
    }
    return work
  }

  private func best(_ work: Double) throws -> Double {
    var shortest = Double.infinity
    var total = 0.0
    for _ in 0..<Self.runs where total < Self.runTime {
      let makespan = try makespan(work)
      shortest = min(shortest, makespan)
      total += makespan
    }
    return shortest
  }
}
