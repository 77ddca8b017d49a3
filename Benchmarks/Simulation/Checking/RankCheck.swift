import HarnessComparing
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Whether the simulator orders the strategies of a result as the result does.
///
/// For every graph and number of workers, each pair of strategies is compared: the ratio of the measured makespans,
/// with an interval that is widened for all pairs of the table, and the ratio of the simulated ones.
package struct RankCheck {
  /// A pair of strategies on a graph.
  package struct Pair: Sendable {
    /// The logarithms of the ratios.
    package let measured: Double
    package let simulated: Double
    /// Whether the interval of the measured ratio leaves out 1.
    package let isToldApart: Bool

    /// Whether both ratios are on the same side of 1. Where the simulator sees no difference, it agrees with neither.
    package var agrees: Bool { measured * simulated > 0 }
  }

  /// What the table has of a graph and a number of workers.
  package struct Case: Sendable {
    package let graph: MeasuredGraph
    package let workers: Int
    package let strategies: Int
    package let pairs: [Pair]
    package let measuredBest: String
    package let simulatedBest: String
    /// The measured makespan of the strategy that is simulated best, over that of the one measured best: paired ratios
    /// to the first strategy.
    package let costOfChoice: Double

    package var toldApart: [Pair] { pairs.filter(\.isToldApart) }

    /// Kendall's tau: the pairs that agree less the others, by the number of pairs.
    package var tau: Double {
      let sum = pairs.reduce(0) { $0 + ($1.agrees ? 1 : $1.simulated * $1.measured < 0 ? -1 : 0) }
      return Double(sum) / Double(max(1, pairs.count))
    }
  }

  package let cases: [Case]
  /// The CPUs of the machine of the result; nil where the result does not say.
  private let cpus: Int?
  private let name: String

  /// Throws one line when nothing of the result can be simulated with two strategies or more.
  /// - Parameter seed: that of the graphs, where the result does not say its own.
  package init(_ results: ResultSet, model: CostModel, seed: UInt64) throws {
    struct Group {
      let graph: MeasuredGraph
      let workers: Int
      let line: ResultTable.Line
      let arms: [(arm: Arm, backend: SimulatedBackend)]
    }
    let seed = results.record?.seed ?? seed
    let table = ResultTable(results.rows)
    var groups: [Group] = []
    // A result of ablate has the time of an operation alone.
    let lines = table.lines.filter {
      $0.metric == .makespan || $0.metric == .nsPerOp && table.line($0.scenario, .makespan) == nil
    }
    for line in lines {
      guard let graph = MeasuredGraph(line.scenario, seed: seed) else { continue }
      // A default stands before its changes.
      let known = line.cells.keys.sorted { ($0.subject.count, $0.subject) < ($1.subject.count, $1.subject) }.compactMap
      { arm in
        (try? SimulatedBackend(arm.subject)).map { (arm: arm, backend: $0) }
      }
      for (workers, arms) in Dictionary(grouping: known, by: { $0.arm.workers }).sorted(by: { $0.key < $1.key })
      where arms.count > 1 {
        groups.append(Group(graph: graph, workers: workers, line: line, arms: arms))
      }
    }
    guard !groups.isEmpty else {
      throw Complaint(
        .badInput,
        "\(results.name) has no graph of dependencies/graph with two strategies of stealing or threadpool: "
          + "measure with run --benchmark 'dependencies/graph' --backend 'stealing,stealing(own=lifo)'")
    }
    let widening = Widening(comparisons: groups.reduce(0) { $0 + $1.arms.count * ($1.arms.count - 1) / 2 })
    cases = try groups.map { group in
      let tasks = SimulatedGraph(try group.graph.tasks(workers: group.workers))
      let simulated = group.arms.map {
        group.graph.makespan(of: tasks, on: $0.backend, workers: group.workers, model: model)
      }
      let arms = group.arms.map(\.arm)
      func logarithms(_ index: Int, over other: Int) -> [Double] {
        group.line.logarithms(arms[index], arms[other]).sorted { $0.key < $1.key }.map(\.value)
      }
      var pairs: [Pair] = []
      for index in arms.indices {
        for other in 0..<index {
          let logarithms = logarithms(index, over: other)
          guard !logarithms.isEmpty else { continue }
          // Fewer than six blocks have no interval.
          let confidence = widening.confidence(of: logarithms.count) ?? widening.confidence
          let estimate = Statistics.pairedEstimate(logarithms, confidence: confidence)
          pairs.append(
            Pair(
              measured: estimate.median,
              simulated: Pairing.logarithm(simulated[index], over: simulated[other]) ?? 0,
              isToldApart: estimate.interval.map { !$0.contains(0) } ?? false))
        }
      }
      // The best one of those that were measured beside the first, such as a default beside its changes.
      let measured = arms.indices.map { Pairing.ratio(logarithms($0, over: 0))?.median ?? .infinity }
      let known = arms.indices.filter { measured[$0] < .infinity }
      let best = known.min { measured[$0] < measured[$1] }!
      let chosen = known.min { simulated[$0] < simulated[$1] }!
      return Case(
        graph: group.graph, workers: group.workers, strategies: arms.count, pairs: pairs,
        measuredBest: arms[best].subject, simulatedBest: arms[chosen].subject,
        costOfChoice: measured[chosen] / measured[best])
    }
    (cpus, name) = (results.record?.cpusAllowed, results.name)
  }

  /// The share of all pairs that are told apart in which the simulator agrees. Nil without such a pair.
  package var agreement: Double? {
    let all = cases.filter { !isCrowded($0) }.flatMap(\.toldApart)
    return all.isEmpty ? nil : Double(all.count(where: \.agrees)) / Double(all.count)
  }

  /// Whether there are more workers than CPUs.
  private func isCrowded(_ item: Case) -> Bool { cpus.map { item.workers > $0 } ?? false }

  /// A line for each graph and number of workers. A line holds where the simulator contradicts no pair that is told
  /// apart. Lines with more workers than CPUs hold always: the simulator has a CPU for each worker.
  package func table() -> CheckTable {
    let sum = agreement.map { "The simulator agrees on \(NumberFormat.percent($0)) of them." }
    var table = CheckTable(
      "Ranks of \(name)",
      words:
        "Each pair of strategies on a graph, by their makespans, or by the time of an operation where a result has no makespan. Told apart: the measured ratio's interval, widened for all pairs "
        + "of the table, leaves out 1. \(sum ?? "No pair is told apart: more --blocks are needed.") Tau counts all pairs: 1 says "
        + "that both orders are the same, 0 that they have nothing to do with one another. Cost: the measured makespan of what "
        + "is simulated best, over that of what is measured best. A line holds where the simulator contradicts no pair that is "
        + "told apart. With more workers than CPUs (*) the simulator says nothing, and the line counts for nothing.",
      columns: [
        "graph", "work", "workers", "strategies", "told apart", "agree", "tau", "measured best", "simulated best",
        "cost",
      ])
    for item in cases {
      let apart = item.toldApart
      let contradicted = apart.contains { $0.measured * $0.simulated < 0 }
      table.add(
        [
          item.graph.choice.name, NumberFormat("ns", item.graph.work).text(item.graph.work),
          "\(item.workers)\(isCrowded(item) ? "*" : "")", "\(item.strategies)", "\(apart.count) of \(item.pairs.count)",
          "\(apart.count(where: \.agrees))", NumberFormat.significant(item.tau), item.measuredBest, item.simulatedBest,
          "x\(NumberFormat.significant(item.costOfChoice))",
        ], holds: isCrowded(item) || !contradicted)
    }
    return table
  }
}
