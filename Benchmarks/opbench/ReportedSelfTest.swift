import ArgumentParser
import FoundationEssentials
import Glibc
import HarnessComparing
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords
import Laboratory
import Subjects

/// The gate's self-test: equals, a known slowdown, a known allocation and known noise. All of them are the one control
/// subject of this program, with other numbers in its environment.
struct ReportedSelfTest {
  private let cells: [GatedCell]
  private let resources: GateTiers.Resources
  private let seed: UInt64
  private let progress = Progress()
  private let program = GateProgram.own

  /// Benchmarks in which adding and running do not overlap, so that a delay of an operation delays the whole by the
  /// same time.
  private static let short = {
    // A debug build takes about ten times as long for an operation.
    let scale = GateSuite.ownBuild == "debug" ? 1 : 10
    return [
      Scenario(BenchmarkName("overhead", "local-add"), ["ops": "\(1_000 * scale)"]),
      Scenario(BenchmarkName("dependencies", "chain"), ["length": "\(100 * scale)"]),
    ]
  }()

  /// `whole` takes all gated benchmarks and their thresholds. Otherwise two benchmarks run at one worker.
  init(resources: GateTiers.Resources, whole: Bool, seed: UInt64) {
    self.seed = seed
    var resources = resources
    resources.recordedSubject = GatedBenchmarks.defaultSubject
    resources.build = GateSuite.ownBuild
    // Without calibration, the threshold is half of the slowdown that must be caught.
    if !whole { resources.thresholds = GateThresholds() }
    self.resources = resources
    cells =
      whole
      ? GatedBenchmarks.cells(subject: ControlSubject.name, workers: CPUs.available)
      : Self.short.map {
        GatedCell(
          CellKey($0, Arm(subject: ControlSubject.name, workers: 1)),
          [GatedMetric(.nsPerOp, .wallClock), GatedMetric(.cpuNsPerOp, .steady)], countsAllocations: true)
      }
    FileCall.ignoreSignals()
    Interrupt.install()
  }

  /// Runs each case once. The exit code is 0 when all verdicts are right, 3 when some stay open, and 70 when one is
  /// wrong. A gate is wrong now and then, by its rates. A gate that does not work is wrong every time, so a case with a
  /// wrong verdict runs again.
  func check() throws {
    for warning in MachineWarnings.before() { progress.say(warning) }
    var rows = [["case", "expected", "verdict", "took", "because"]]
    var worst = SelfTestCase.Outcome.right
    for test in SelfTestCase.allCases {
      if isImpossible(test) {
        rows.append([test.words, test.expected.rawValue, "not run", "-", Jemalloc.advice])
        if case .right = worst { worst = .undecided }
        continue
      }
      var outcome = SelfTestCase.Outcome.wrong
      for attempt in 0..<2 {
        guard case .wrong = outcome else { break }
        let report = try report(test, attempt: attempt)
        outcome = test.outcome(report.verdict)
        rows.append([
          test.words, test.expected.rawValue, report.verdict.rawValue, Progress.duration(report.seconds),
          report.headline,
        ])
      }
      switch (outcome, worst) {
      case (.wrong, _): worst = .wrong
      case (.undecided, .right): worst = .undecided
      default: break
      }
    }
    progress.clear()
    let text = Table.aligned(rows).joined(separator: "\n") + "\n"
    try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
    switch worst {
    case .right: progress.say("self-test passed")
    case .undecided:
      progress.say("self-test inconclusive: the lines above say why; nothing wrong was said")
      throw ExitCode(GateVerdict.inconclusive.exitCode)
    case .wrong: throw Complaint(.software, "the gate's self-test failed: a verdict above is not the expected one")
    }
  }

  /// Runs the cases in turn until there are `count` runs of each, or the time is over. Each run adds a line to the log.
  /// When the command is given again, it goes on with the log.
  func runs(_ count: Int, log: String, minutes: Double) throws {
    let began = Clock.now()
    var runs = FileManager.default.fileExists(atPath: log) ? try SelfTestRun.read(log) : []
    let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw Complaint(.cannotCreate, "cannot write \(log): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    // A line that was cut off is removed, so that the next line is not joined to it.
    try SelfTestRun.cutBack(log)
    var longest: [SelfTestCase: Double] = [:]
    for run in runs { longest[run.test] = max(longest[run.test] ?? 0, run.seconds) }
    while let test = SelfTestRates(runs).next(of: count, among: possible) {
      let passed = Double(Clock.now() - began) / 1e9
      // A case that would not end in time is not begun.
      guard passed + (longest[test] ?? 0) < minutes * 60 else { break }
      let report = try report(test, attempt: runs.count)
      longest[test] = max(longest[test] ?? 0, report.seconds)
      let run = SelfTestRun(test, report)
      runs.append(run)
      try DescriptorOutput.write(try run.line(), to: file, name: log)
    }
    progress.clear()
    let rates = SelfTestRates(runs)
    try DescriptorOutput.write(rates.text, to: STDOUT_FILENO, name: "standard output")
    if rates.next(of: count, among: possible) != nil {
      progress.say("not all \(count) runs of each case are done; the same command goes on with \(log)")
    }
  }

  private var possible: [SelfTestCase] { SelfTestCase.allCases.filter { !isImpossible($0) } }

  private func isImpossible(_ test: SelfTestCase) -> Bool {
    test == .allocation && resources.countingEnvironment == nil
  }

  private func report(_ test: SelfTestCase, attempt: Int) throws -> GateReport {
    var resources = resources
    resources.tiers = test == .allocation ? [.deterministic] : [.steady, .wallClock]
    let injection = Injection(test, program: program)
    let control = GateArm("base", program: program)
    if test == .allocation {
      resources.record = try GateInvocation.recorded(control, cells, as: resources, seed: seed, progress)
    }
    var task = ReportedGate(cells, head: control.named("head"), resources, seed: seed &+ UInt64(attempt))
    task.base = control
    task.names = ReportedGate.Names(base: "control", head: test.words)
    task.inject = injection.environment
    return try task.report(progress)
  }
}

/// The additions of a case to the environment of the control subject.
private struct Injection {
  private let test: SelfTestCase
  private let delay: InjectedDelay

  init(_ test: SelfTestCase, program: String) {
    self.test = test
    delay = InjectedDelay(
      delay: { [ControlChoice.delayVariable: "\($0)"] },
      launch: { ProcessRunner.measure($0, program: program, environment: $1, timeout: 20) })
  }

  func environment(_ arm: GateArm, _ request: MeasureRequest) -> [String: String] {
    let isHead = arm.name == "head"
    switch test {
    case .equal: return [:]
    case .allocation: return isHead ? [ControlChoice.allocationsVariable: "1"] : [:]
    case .slower: return isHead ? longer(request, ControlChoice.delayVariable, SelfTestCase.slowdown) : [:]
    case .noise: return longer(request, ControlChoice.noiseVariable, SelfTestCase.noiseShare)
    }
  }

  private func longer(_ request: MeasureRequest, _ variable: String, _ share: Double) -> [String: String] {
    let rounds = delay.rounds(request, share: share)
    return rounds > 0 ? [variable: "\(rounds)"] : [:]
  }
}
