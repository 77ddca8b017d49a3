import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessStatistics
import HarnessWords
import Workloads

/// What the measurements of a described load say: a line for each subject, worker count and way, and what to take.
struct LoadAnswer {
  private let load: LoadDescription
  private let results: ResultTable
  private let cpus: Int
  private let factors: [Double]
  private let choices: [Choice]

  /// A subject with a number of workers and a way.
  private struct Choice {
    let arm: Arm
    let way: LoadDescription.Way
    /// The scenario of each factor.
    let scenarios: [Double: Scenario]
  }

  init(_ load: LoadDescription, _ results: ResultTable, _ plan: Plan, cpus: Int) {
    (self.load, self.results, self.cpus) = (load, results, cpus)
    factors = load.factors(cpus: cpus)
    var arms: [Arm] = []
    var found: [LoadDescription.Way: [Double: Scenario]] = [:]
    var capable: [LoadDescription.Way: [Arm]] = [:]
    for planned in plan.scenarios {
      let parameters = planned.scenario.parameters
      guard let way = parameters["way"].flatMap(LoadDescription.Way.init(rawValue:)),
        let factor = parameters.number("times")
      else { continue }
      found[way, default: [:]][factor] = planned.scenario
      capable[way] = planned.arms
      for arm in planned.arms where !arms.contains(arm) { arms.append(arm) }
    }
    choices = arms.flatMap { arm in
      load.ways.filter { capable[$0]?.contains(arm) == true }.map {
        Choice(arm: arm, way: $0, scenarios: found[$0] ?? [:])
      }
    }
  }

  func text(width: Int) -> String {
    let share = NumberFormat.percent(load.load(cpus: cpus))
    var lines = [
      "\(load.name): \(NumberFormat.significant(load.rate)) requests a second, \(share) of \(Count.of(cpus, "CPU"))",
      "",
    ]
    lines += Table.aligned([heading] + choices.map(row)) + [""]
    for paragraph in [limits, advice] + notSure + [ways] where !paragraph.isEmpty {
      lines += WrappedText.lines(paragraph, width: width, hanging: 2)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var hasUrgent: Bool { load.urgent != nil }
  private var hasIdeal: Bool { load.blocking == nil }

  private var heading: [String] {
    ["subject", "workers", "way", "p99"] + (hasUrgent ? ["p99 of urgent ones"] : []) + ["tails break"]
      + (hasIdeal ? ["without cost"] : [])
  }

  private func row(_ choice: Choice) -> [String] {
    func time(_ metric: Metric) -> String {
      estimate(choice, metric).map { NumberFormat("ns", $0.median).text($0.median, $0.interval) } ?? "-"
    }
    return [choice.arm.subject, "\(choice.arm.workers)", choice.way.rawValue, time(DescribedLoad.p99)]
      + (hasUrgent ? [time(DescribedLoad.urgentP99)] : [])
      + [words(breaks(choice) { isLate($0, choice) })]
      + (hasIdeal
        ? [words(breaks(choice) { percents($0, DescribedLoad.idealLate, choice)?.values.map(isTooMuch) })] : [])
  }

  /// The numbers of the processes at one rate; nil where nothing was measured.
  private func percents(_ factor: Double, _ metric: Metric, _ choice: Choice) -> [Int: Double]? {
    choice.scenarios[factor].flatMap { results.line($0, metric)?.cells[choice.arm] }
  }

  private func estimate(_ choice: Choice, _ metric: Metric) -> Estimate? {
    percents(1, metric, choice).map { Statistics.estimate(Array($0.values)) }
  }

  private func isTooMuch(_ percent: Double) -> Bool { percent > 100 * ServiceLevel.exceptions }

  /// For each process, whether too many requests were late.
  private func isLate(_ factor: Double, _ choice: Choice) -> [Bool]? {
    guard let all = percents(factor, DescribedLoad.late, choice) else { return nil }
    let urgent = percents(factor, DescribedLoad.urgentLate, choice) ?? [:]
    return all.map { isTooMuch($1) || urgent[$0].map(isTooMuch) == true }
  }

  /// Between which rates the tails break: the last one, from the least on, at which no process had too many late
  /// requests, and the first one at which each had.
  private struct Break {
    var holds: Double?
    var fails: Double?
    var isMeasured = false
  }

  private func breaks(_ choice: Choice, _ isLate: (Double) -> [Bool]?) -> Break {
    var found = Break()
    var isHeld = true
    for factor in factors {
      guard let late = isLate(factor), !late.isEmpty else { continue }
      found.isMeasured = true
      isHeld = isHeld && !late.contains(true)
      if isHeld { found.holds = factor }
      if !late.contains(false) {
        found.fails = factor
        break
      }
    }
    return found
  }

  /// The highest rate up to which no process had too many late requests.
  private func held(_ choice: Choice) -> Double { breaks(choice) { isLate($0, choice) }.holds ?? 0 }

  private func words(_ found: Break) -> String {
    func factor(_ value: Double) -> String { "x" + NumberFormat.general(value, digits: 4) }
    switch (found.holds, found.fails) {
    case _ where !found.isMeasured: return "-"
    case (let holds?, let fails?): return "between \(factor(holds)) and \(factor(fails))"
    case (let holds?, nil): return "above \(factor(holds))"
    case (nil, let fails?): return "below \(factor(fails))"
    case (nil, nil): return "not sure"
    }
  }

  private var limits: String {
    func time(_ value: Double) -> String { NumberFormat("ns", value).text(value) }
    let deadline = load.deadline.map { ", or of urgent ones longer than \(time($0))" } ?? ""
    let ideal =
      hasIdeal ? " Without cost: the same in one queue for all CPUs in which nothing but the requests takes time." : ""
    return
      "p99 at the described rate; tails break, in multiples of that rate, where more than one request in a thousand takes longer than "
      + "\(time(load.tail))\(deadline). Between: no process had too many at the lower rate, and each had at the upper one."
      + " Rates of more than \(NumberFormat.percent(LoadDescription.mostLoad)) of the CPUs were not tried.\(ideal)"
  }

  /// What decides between choices that carry equally much.
  private var deciding: Metric { hasUrgent ? DescribedLoad.urgentP99 : DescribedLoad.p99 }

  /// The choices that carry the described rate, the best first.
  private var carrying: [Choice] {
    func key(_ choice: Choice) -> (Double, Double) { (-held(choice), estimate(choice, deciding)?.median ?? .infinity) }
    return choices.filter { held($0) >= 1 }.sorted { key($0) < key($1) }
  }

  private func name(_ choice: Choice) -> String {
    let way = load.ways.count > 1 ? ", \(choice.way.rawValue)" : ""
    return "\(choice.arm.subject) with \(Count.of(choice.arm.workers, "worker"))\(way)"
  }

  private var advice: String {
    guard let best = carrying.first else {
      return "nothing that was measured surely carries this load: fewer requests, more CPUs, or a longer tail"
    }
    return "take: \(name(best))"
  }

  private var notSure: [String] {
    guard let best = carrying.first, let scenario = best.scenarios[1] else { return [] }
    let others = carrying.dropFirst().compactMap { other -> String? in
      guard let own = other.scenarios[1], let mine = results.line(scenario, deciding)?.cells[best.arm],
        let theirs = results.line(own, deciding)?.cells[other.arm],
        let ratio = Pairing.ratio(Pairing.logarithms(of: theirs, over: mine).values),
        ratio.interval?.contains(1) ?? true
      else { return nil }
      return "\(name(other)) \(NumberFormat.ratio(ratio.median, ratio.interval))"
    }
    return others.isEmpty
      ? []
      : ["not sure: these carry this load too, and their p99 is not surely another: \(others.joined(separator: "; "))"]
  }

  private var ways: String {
    let words: [LoadDescription.Way: String] = [
      .urgentFirst: "urgent-first: the other requests have queuePriority = .low.",
      .urgentKept: "urgent-kept: in addition limits[below: .normal] = workers - 1 of the queue.",
      .limited: "limited: maxConcurrentOperationCount = 2 * workers of the queue.",
    ]
    return load.ways.compactMap { words[$0] }.joined(separator: " ")
  }
}
