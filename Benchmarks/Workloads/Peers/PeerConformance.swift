import HarnessMeasuring
import HarnessWords
import Subjects

/// The conformance kit of the peer protocol: asks a program what a run would ask, and what no run asks, and finds what
/// cannot be true.
package final class PeerConformance {
  private let program: String
  /// After how many seconds a process counts as hung.
  private let patience: Double
  private let say: (PeerFinding) -> Void
  /// Ends what a process has left behind, and gives the number of processes.
  private let endLeftBehind: () -> Int
  private var hangs = 0
  package private(set) var findings: [PeerFinding] = []

  package init(
    _ program: String, patience: Double, endLeftBehind: @escaping () -> Int, say: @escaping (PeerFinding) -> Void
  ) {
    (self.program, self.patience, self.endLeftBehind, self.say) = (program, patience, endLeftBehind, say)
  }

  private static let workers = 2
  private static let seed: UInt64 = 1
  private let spin = Spin.calibrated()
  /// One repeat, one value, at once.
  private static let once = MeasureRequest.Mode.time(repeats: 1, values: 1)

  package func run() throws {
    var said: PeerIntroduction?
    try check("it says its version and its benchmarks") {
      let introduction = try PeerIntroduction(of: program, timeout: patience)
      try endAllLeftBehind()
      said = introduction
    }
    guard let said else { return na("all else", "nothing is known of the program") }
    do {
      try lookAtAll(said)
    } catch is HangsAlways {
      na("what is left", "\(Count.of(Self.mostHangs, "process")) hung")
    }
  }

  private func lookAtAll(_ said: PeerIntroduction) throws {
    let subject = said.peer("peer", program: program).info
    let workloads = try Catalogue(graphs: [], seed: Self.seed).workloads
    try check("opbench has its benchmarks") {
      for name in said.benchmarks where !workloads.contains(where: { $0.name == name }) {
        throw CheckFailed(
          "there is no \(name)\(Suggestion.words(forBenchmark: "\(name)", among: workloads.map(\.name)))")
      }
    }
    let cells = workloads.filter { said.benchmarks.contains($0.name) }.flatMap { workload in
      Self.parameters(of: workload, for: subject).map { Cell(workload: workload, parameters: $0) }
    }
    for cell in cells { try look(at: cell) }
    // All benchmarks of a program share some checks. The first benchmark that makes no sweep stands for all.
    guard
      let cell = try cells.first(where: {
        try !request($0, Self.once).isSweep && $0.workload.metrics.contains(.nsPerOp)
      })
    else { return na("clocks, lead-in, budget and wrong requests", "it has no benchmark that gives ns_per_op") }
    try lookAtTime(of: cell)
    try lookAtRequests(of: cell)
    try lookAtFiles(cells)
  }

  /// A benchmark with its parameters.
  private struct Cell {
    let workload: any Workload
    let parameters: Parameters

    var name: String { parameters.isEmpty ? "\(workload.name)" : "\(workload.name) \(parameters)" }
  }

  /// The first parameters that the program can run; of graphs all those of a usual run.
  private static func parameters(of workload: any Workload, for subject: SubjectInfo) -> [Parameters] {
    let sets = workload.parameterSets()
    let able = (sets.isEmpty ? workload.extendedParameterSets() : sets).filter { workload.obstacle(subject, $0) == nil }
    let others = workload.extendedParameterSets().filter { workload.obstacle(subject, $0) == nil }
    if workload is GraphPatterns { return able }
    let first = (able + others).prefix(1)
    // At a low load, many requests take ten seconds.
    return workload is Capacity ? first.map { $0.merging(["samples": "50"]) } : Array(first)
  }
}

// MARK: - Asking

extension PeerConformance {
  /// An answer that is whole and can be true.
  private struct Answer {
    let outcome: ProcessOutcome
    /// With those that opbench derives, except of a sweep.
    let readings: [(value: Int, reading: Reading)]

    func readings(_ metric: Metric) -> [Reading] { readings.map(\.reading).filter { $0.metric == metric } }
    func nanoseconds(_ metric: Metric) -> [Double] { readings(metric).map { $0.value * Double($0.count) } }
    var lifetime: Double { Double(outcome.nanoseconds + outcome.stoodStill) }
  }

  private func request(_ cell: Cell, _ mode: MeasureRequest.Mode) throws -> PeerRequest {
    try PeerRequest(
      MeasureRequest(
        cell: CellKey(Scenario(cell.workload.name, cell.parameters), Arm(subject: "peer", workers: Self.workers)),
        mode: mode, seed: Self.seed, spin: spin))
  }

  private func start(_ arguments: [String], file: PeerFile?) throws -> ProcessOutcome {
    guard hangs < Self.mostHangs else { throw HangsAlways() }
    let outcome = try PeerLauncher.launch(program, arguments, file: file, timeout: patience).toEnd()
    if outcome.ending == .interrupted { throw Interrupted() }
    if outcome.ending == .timedOut { hangs += 1 }
    try endAllLeftBehind(isOutputHeld: outcome.isOutputHeld)
    return outcome
  }

  private func endAllLeftBehind(isOutputHeld: Bool = false) throws(CheckFailed) {
    let left = max(endLeftBehind(), isOutputHeld ? 1 : 0)
    guard left == 0 else { throw CheckFailed("the process has ended, and left \(Count.of(left, "process")) behind") }
  }

  /// A program that always hangs would have the user wait for an hour.
  private struct HangsAlways: Error {}
  private static let mostHangs = 3

  /// Throws why the answer is none, or cannot be true.
  private func ask(_ cell: Cell, _ mode: MeasureRequest.Mode, place: Int? = nil) throws -> Answer {
    let request = try request(cell, mode)
    let outcome = try start(request.arguments + (place.map { ["place=\($0)"] } ?? []), file: request.file)
    if let failure = outcome.failure(mode) { throw CheckFailed(failure) }
    if let mistake = PeerAnswer.mistake(in: outcome, to: mode) { throw CheckFailed("it \(mistake)") }
    // The readings of a sweep are derived with the peak of this machine, which a debug build does not reach.
    let lines = request.isSweep ? outcome.lines : try request.answer(outcome.lines)
    return Answer(
      outcome: outcome,
      readings: lines.compactMap(ResultLine.init).compactMap {
        if case .reading(let value, let one) = $0 { (value, one) } else { nil }
      })
  }

  /// Throws unless the answer is one line, `failure`.
  private func isRefused(_ arguments: [String], file: PeerFile?) throws {
    let outcome = try start(arguments, file: file)
    let words = outcome.lastWords.map { ", its last words: \($0)" } ?? ""
    guard outcome.ending == .exited(0) else { throw CheckFailed("the process \(outcome.ending.description)\(words)") }
    guard outcome.lines.count == 1, case .failure = ResultLine(outcome.lines[0]) else {
      let said = outcome.lines.first.map { "'\($0.replacing("\t", with: " "))'" } ?? "nothing"
      throw CheckFailed("it said \(said) in \(Count.of(outcome.lines.count, "line")), and not one line 'failure'")
    }
  }

  /// Ctrl-C has ended the process that was asked.
  package struct Interrupted: Error {}

  private func check(_ name: String, _ body: () throws -> Void) throws {
    do {
      try body()
      note(name, .ok, "")
    } catch let error as CheckFailed {
      note(name, .failed, error.description)
    }
  }

  private func na(_ name: String, _ reason: String) { note(name, .notApplicable, reason) }

  private func note(_ name: String, _ verdict: PeerFinding.Verdict, _ reason: String) {
    let finding = PeerFinding(check: name, verdict: verdict, reason: Printable.name(reason))
    findings.append(finding)
    say(finding)
  }
}

// MARK: - Checks

extension PeerConformance {
  /// What each benchmark has of its own.
  private func look(at cell: Cell) throws {
    let isSweep = try request(cell, Self.once).isSweep
    var answer: Answer?
    try check("\(cell.name): values, metrics and counts") {
      // A sweep takes seconds.
      let mode =
        isSweep ? Self.once : MeasureRequest.Mode.time(repeats: 2, values: 3, leadIn: 0, budget: .max, more: 1)
      let asked = try ask(cell, mode)
      if !isSweep { try compare(asked, with: cell) }
      answer = asked
    }
    let isFork = cell.workload.name.family == "forkjoin"
    guard let answer else {
      return na("\(cell.name): all else", "its values are wrong")
    }
    if isFork {
      try check("\(cell.name): its own serial") {
        guard !(answer.readings(.speedup) + answer.readings(.serial)).isEmpty else {
          throw CheckFailed(
            "it gives no \(Metric.speedup.name), its time over the plain recursion or loop of its language")
        }
      }
    }
    guard !isSweep else { return }
    try check("\(cell.name): a calibration keeps to its limit") {
      _ = try ask(cell, .calibrate(target: 1_000_000, limit: 3, leadIn: 0))
    }
    let right = try request(cell, Self.once)
    for key in ["tasks", "expected"] {
      guard let place = right.arguments.firstIndex(where: { $0.hasPrefix("\(key)=") }) else { continue }
      try check("\(cell.name): another \(key == "tasks" ? "number of tasks" : "sum") is refused") {
        var wrong = right.arguments
        wrong[place] += "1"
        try isRefused(wrong, file: right.file)
      }
    }
    if cell.parameters.number("work_ns") ?? 0 > 0 {
      try check("\(cell.name): the work of all tasks is done") { try lookAtWork(of: cell) }
    }
  }

  /// The metrics and counts of a subject of this program, which does the same work.
  private func compare(_ answer: Answer, with cell: Cell) throws {
    guard let able = SubjectRegistry.inProcess.first(where: { cell.workload.obstacle($0, cell.parameters) == nil }),
      let trial = try cell.workload.prepare(
        subject: able.name,
        Setting(parameters: cell.parameters, workers: Self.workers, seed: Self.seed, spin: spin))
    else { return }
    for expected in try trial.measure(1).readings {
      let given = answer.readings.filter { $0.reading.metric == expected.metric }
      guard given.count == 3 else { throw CheckFailed("it gives no \(expected.metric.name)") }
      for (value, reading) in given {
        let repeats = value == 2 ? 3 : 2
        guard reading.count == expected.count * repeats else {
          throw CheckFailed(
            "\(expected.metric.name) of value \(value), with \(repeats) repeats, is of \(reading.count), not of "
              + "\(expected.count * repeats)")
        }
      }
    }
  }

  /// A process that runs bodies of a millisecond takes at least half of their CPU time.
  private func lookAtWork(of cell: Cell) throws {
    let long = Cell(workload: cell.workload, parameters: cell.parameters.merging(["work_ns": "1000000"]))
    let lines = try request(long, Self.once).file?.text.split(separator: "\n") ?? []
    let nominal = lines.reduce(0) { $0 + (Double($1.prefix { $0 != " " }) ?? 0) }
    // In a debug build this process is slow, and so a round is long: no CPU takes less than that for one.
    let work = min(nominal, Double(spin.rounds(nanoseconds: nominal)) * 0.8)
    let took = try ask(long, Self.once).outcome.usage.cpuSeconds * 1e9
    guard took >= work / 2 else {
      throw CheckFailed(
        "its process took \(NumberFormat.significant(took / 1e6)) ms of CPU for \(NumberFormat.significant(work / 1e6)) ms of work"
      )
    }
  }

  /// What a program does with time, on one benchmark.
  private func lookAtTime(of cell: Cell) throws {
    var repeats = 1
    try check("calibration: the runs that fill 20 ms take about as long") {
      let answer = try ask(cell, .calibrate(target: 20_000_000, limit: .max, leadIn: 0))
      for case .repeats(let count) in answer.outcome.results { repeats = count }
      let took = try ask(cell, .time(repeats: repeats, values: 3)).nanoseconds(.nsPerOp).min() ?? 0
      // Where another program has the CPU, times are longer, but not by that.
      guard took >= 1e6, took <= 400e6 || repeats == 1 else {
        throw CheckFailed("\(Count.of(repeats, "repeat")) take \(NumberFormat.significant(took / 1e6)) ms")
      }
    }
    try check("clock: what a process says that it took passes outside of it, too") {
      try lookAtClocks(of: cell, repeats)
    }
    for name in ["time", "calibrate"] {
      try check("lead-in of \(name): it works as long as it is told") {
        func lifetime(_ leadIn: UInt64) throws -> Double {
          try ask(
            cell,
            name == "time"
              ? .time(repeats: 1, values: 1, leadIn: leadIn) : .calibrate(target: 1, limit: 1, leadIn: leadIn)
          ).lifetime
        }
        // So long that starting a process is no part of it, however busy the machine is.
        let leadIn = UInt64(max(300e6, 3 * (try lifetime(0))))
        let lived = try lifetime(leadIn)
        guard lived >= Double(leadIn) else {
          throw CheckFailed(
            "its process lived for \(NumberFormat.significant(lived / 1e6)) ms, with a lead-in of \(leadIn / 1_000_000)"
          )
        }
      }
    }
    try check("budget: no value begins when it is spent") {
      let none = try ask(cell, .time(repeats: 1, values: 5, budget: 0)).readings(.nsPerOp)
      guard none.count == 1 else { throw CheckFailed("it gives \(none.count) values with a budget of 0, and not 1") }
      let budget: UInt64 = 50_000_000
      let values = try ask(cell, .time(repeats: repeats, values: 1_000, budget: budget)).nanoseconds(.nsPerOp)
      guard values.dropLast().reduce(0, +) <= Double(budget) else {
        throw CheckFailed("it gives \(values.count) values, and the budget of 50 ms was spent before the last")
      }
    }
    try check("turns: it stops before each value, or never") {
      let answer = try ask(cell, .time(repeats: 1, values: 3, takesTurns: true))
      let (turns, values) = (answer.outcome.results.count { $0 == .turn }, answer.readings(.nsPerOp).count)
      guard turns == 0 || turns == values else {
        throw CheckFailed("it stops \(Count.of(turns, "time")) for \(Count.of(values, "value"))")
      }
    }
    try check("place: any number names a CPU") { _ = try ask(cell, Self.once, place: 1_000_003) }
  }

  /// A process with more repeats lives longer by what the repeats take. A tenth is allowed for what is not timed, such
  /// as checking, and another try for a machine that is busy.
  private func lookAtClocks(of cell: Cell, _ repeats: Int) throws {
    for attempt in 1...3 {
      let few = try ask(cell, .time(repeats: 1, values: 1))
      let many = try ask(cell, .time(repeats: repeats, values: 10))
      func isLow(_ metric: Metric, _ passed: Double) -> String? {
        let said = many.nanoseconds(metric).reduce(0, +)
        guard said < passed / 10, passed > 20e6 else { return nil }
        return "\(metric.name) sums up to \(NumberFormat.significant(said / 1e6)) ms, and "
          + "\(NumberFormat.significant(passed / 1e6)) ms more passed than with one repeat"
      }
      let cpu = (many.outcome.usage.cpuSeconds - few.outcome.usage.cpuSeconds) * 1e9
      let tooMuch = many.nanoseconds(.cpuNsPerOp).reduce(0, +) > many.outcome.usage.cpuSeconds * 1.01e9 + 20e6
      guard
        let words = isLow(.nsPerOp, many.lifetime - few.lifetime) ?? isLow(.cpuNsPerOp, cpu)
          ?? (tooMuch ? "cpu_ns_per_op sums up to more than the CPU time of its process" : nil)
      else { return }
      if attempt == 3 { throw CheckFailed(words) }
    }
  }

  /// What cannot be carried out is one line.
  private func lookAtRequests(of cell: Cell) throws {
    let right = try request(cell, .time(repeats: 1, values: 2, leadIn: 0, budget: 0))
    let calibration = try request(cell, .calibrate(target: 1, limit: 1, leadIn: 0))
    let tooLarge = "18446744073709551616"
    func refuses(_ name: String, _ arguments: [String]) throws {
      try check("request \(name): one line, failure") { try isRefused(arguments, file: right.file) }
    }
    try refuses("of nothing", [])
    try refuses("'nonsense'", right.arguments + ["nonsense"])
    try refuses("with a line break", right.arguments + ["line\nbreak"])
    for (request, keys) in [
      (right, ["mode", "benchmark", "workers", "repeats", "values", "lead_in", "budget", "more"]),
      (calibration, ["target", "limit", "lead_in"]),
    ] {
      for key in keys {
        let name = request.arguments.contains("mode=time") ? key : "\(key) to calibrate"
        try refuses("without \(name)", request.arguments.filter { !$0.hasPrefix("\(key)=") })
      }
    }
    for (key, value) in cell.parameters.pairs where Double(value) != nil {
      try refuses("without param.\(key)", right.arguments.filter { !$0.hasPrefix("param.\(key)=") })
      for wrong in ["many"] + (["ops", "length"].contains(key) ? ["0"] : []) {
        try refuses(
          "param.\(key)=\(wrong)",
          right.arguments.map { $0.hasPrefix("param.\(key)=") ? "param.\(key)=\(wrong)" : $0 })
      }
    }
    let wrong = [
      "repeats=0", "values=0", "values=-1", "workers=0", "lead_in=", "budget=soon", "more=some", "budget=\(tooLarge)",
      "place=", "place=-1", "mode=sing", "benchmark=nobody/knows",
    ]
    for argument in wrong {
      let key = argument.prefix { $0 != "=" } + "="
      try refuses("\(argument)", right.arguments.filter { !$0.hasPrefix(key) } + [argument])
    }
    try check("request with an argument of another program: it is carried out") {
      let outcome = try start(right.arguments + ["unheard=of"], file: right.file)
      if let failure = outcome.failure(Self.once) { throw CheckFailed(failure) }
    }
  }

  private func lookAtFiles(_ cells: [Cell]) throws {
    try lookAtFiles(
      "graph", of: cells,
      wrong: [("whose task depends on a later one", "0.0 1\n0.0\n"), ("with a time that is no number", "soon\n")])
    try lookAtFiles(
      "requests", of: cells, wrong: [("with a time that is no number", "0 soon 0\n"), ("without a time", "5\n")])
  }

  private func lookAtFiles(_ key: String, of cells: [Cell], wrong: [(name: String, text: String)]) throws {
    guard let cell = try cells.first(where: { try request($0, Self.once).file?.key == key }) else {
      if key == "graph" { na("graphs that are wrong", "it has no benchmark with a graph") }
      return
    }
    let right = try request(cell, Self.once)
    func refuses(_ name: String, _ file: PeerFile?, _ more: [String] = []) throws {
      try check("\(key) \(name): one line, failure") { try isRefused(right.arguments + more, file: file) }
    }
    try refuses("that is not given", nil)
    try refuses("that is not there", nil, ["\(key)=/no/such/file"])
    for (name, text) in wrong { try refuses(name, PeerFile(key: key, text: text)) }
  }
}
