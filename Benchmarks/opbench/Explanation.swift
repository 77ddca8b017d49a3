import HarnessComparing
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords
import OperationTraceEvents
import Simulation
import Subjects
import VirtualScheduling
import Workloads

/// What the simulator says of the same graph: the slopes of its model.
struct Forecast {
  /// By how many per cent the makespan changes for 100 ns more of a part.
  private(set) var slopes: [StudiedPart: Double] = [:]
  /// The work and the longest path, in nanoseconds, and the path with what its tasks cost a scheduler.
  private(set) var work = 0.0
  private(set) var span = 0.0
  private(set) var burdenedSpan = 0.0

  /// Nil for a benchmark that the simulator does not know.
  init?(_ cell: CellKey, _ study: Study, _ model: CostModel, seed: UInt64) {
    guard let measured = MeasuredGraph(cell.scenario, seed: seed),
      let backend = try? SimulatedBackend.list([cell.arm.subject], withChanges: false, forks: false).first,
      let tasks = try? measured.tasks(workers: cell.arm.workers)
    else { return nil }
    let graph = SimulatedGraph(tasks)
    func makespan(_ change: (inout VirtualCosts, inout Int64) -> Void) -> Double {
      measured.makespan(of: graph, on: backend, workers: cell.arm.workers, model: model, change: change)
    }
    let base = makespan { _, _ in }
    for part in StudiedPart.allCases {
      let more = Int64(Self.more)
      let after = makespan { costs, adding in
        switch part {
        case .add: adding += more
        case .take: costs.take += more
        case .finish: costs.operation += more
        case .steal:
          costs.steal.sameGroup += more
          costs.steal.otherGroup += more
          costs.steal.otherSocket += more
        case .wake: costs.wake += more
        case .sleep: break
        }
      }
      if part != .sleep { slopes[part] = 100 * (after / base - 1) * 100 / Self.more }
    }
    self.work = Double(graph.totalWork)
    span = Double(graph.criticalPath)
    let each = Double(model.costs.operation + model.costs.edge + model.costs.take)
    let burdened = TaskGraph(inputs: tasks.inputs, nanoseconds: tasks.nanoseconds.map { $0 + each })
    burdenedSpan = Double(SimulatedGraph(burdened).criticalPath)
  }

  private static let more = 500.0
}

/// The text and the numbers of `opbench explain`.
struct Explanation {
  private let study: Study
  private let forecast: Forecast?

  init(_ study: Study, _ forecast: Forecast?) { (self.study, self.forecast) = (study, forecast) }

  private var workers: Double { Double(study.cell.arm.workers) }
  private var whole: Double { study.elapsed * workers }

  private static let words: [(activity: ProbeStudy.Activity, words: String)] = [
    (.body, "runs bodies"), (.between, "ends a job, resolves what waits for it, takes the next"),
    (.steal, "looks for a job to steal, and steals it"), (.search, "looks for a job and finds none"),
    (.wake, "wakes another thread"), (.asleep, "sleeps"),
  ]

  /// The share of the workers' time in an activity: the mean over all processes, so that the shares add up.
  private func share(_ activity: ProbeStudy.Activity) -> Double {
    let shares = study.plain.map { process -> Double in
      (process[StudiedTrial.metric(activity)] ?? 0) / (workers * (process[StudiedTrial.elapsed] ?? 1))
    }
    return shares.reduce(0, +) / Double(shares.count)
  }

  private func ns(_ value: Double) -> String { NumberFormat("ns", value).text(value) }
  private func percent(_ share: Double) -> String { NumberFormat.percent(share) }

  func text(width: Int) -> String {
    var lines = ["\(study.cell.scenario) on \(study.cell.arm)", ""]
    lines += [
      "where the time goes: \(Count.of(study.cell.arm.workers, "worker")) for \(ns(study.elapsed)) a repeat", "",
    ]
    let shares = Self.words.map { ($0.words, share($0.activity)) }
    lines += Table.aligned(
      (shares + [("together", shares.reduce(0) { $0 + $1.1 })]).map { ["  " + $0, ns($1 * whole), percent($1)] })
    if let forecast {
      lines += [
        "",
        "  work \(ns(forecast.work)), span \(ns(forecast.span)), burdened span \(ns(forecast.burdenedSpan)): no schedule is shorter than "
          + ns(max(forecast.work / workers, forecast.span)),
      ]
    }
    lines += ["", "what a part is worth: the change of \(study.time.name) when the part takes 100 ns less", ""]
    let heading =
      ["  part", "a repeat", "delay", "measured", "if it never overlapped"] + (forecast == nil ? [] : ["simulated"])
    lines += Table.aligned([heading] + StudiedPart.allCases.map(row))
    let probes = Pairing.ratio(study.ofProbes).map { NumberFormat.ratio($0.median, $0.interval) } ?? "-"
    let notes = [
      "delay: what was injected at each event of the part. Measured: from paired blocks, with the 95 % interval of the "
        + "signed-rank test. A saving is taken to give what an equal delay costs. If it never overlapped: the events of the "
        + "part by the time of all workers. A larger number stands on the path that the whole waits for.",
      "The probes themselves make the whole \(probes), in all processes alike but for those of this ratio.",
    ]
    lines +=
      [""] + notes.flatMap { WrappedText.lines($0, width: width) } + [""]
      + StudiedPart.allCases.map {
        "  \(TextWidth.padded($0.rawValue, to: 7)) \($0.words)"
      }
    return lines.joined(separator: "\n") + "\n"
  }

  private func row(_ part: StudiedPart) -> [String] {
    func signed(_ value: Double) -> String { "\(value > 0 ? "-" : "+")\(NumberFormat.significant(abs(value))) %" }
    let slope = study.slope(part)
    let range = slope?.interval.map { " [\(signed($0.upperBound)), \(signed($0.lowerBound))]" } ?? ""
    return [
      "  \(part.rawValue)", NumberFormat.significant(study.count(part)),
      study.delays[part].map { ns(Double($0)) } ?? "-",
      slope.map { signed($0.median) + range } ?? "-", signed(study.evenSlope(part)),
    ] + (forecast.map { [$0.slopes[part].map(signed) ?? "-"] } ?? [])
  }

  /// A line for each activity and each part.
  var csv: String {
    let activities = Self.words.map {
      ExplainedFile.Row(.activity, "\($0.activity)", words: $0.words, value: share($0.activity))
    }
    let parts = StudiedPart.allCases.map { part in
      let slope = study.slope(part)
      return ExplainedFile.Row(
        .part, part.rawValue, words: part.words, value: slope?.median, interval: slope?.interval,
        even: study.evenSlope(part), simulated: forecast?.slopes[part])
    }
    return ExplainedFile(cell: study.cell, rows: activities + parts).csv
  }
}
