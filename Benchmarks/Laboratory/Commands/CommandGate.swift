import ArgumentParser
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The gate for two commands, or for two revisions that a command builds and another one runs.
package struct CommandGate {
  private let options: GateOptions
  private let own: CommandGateOptions
  private let progress = Progress()

  package init(_ options: GateOptions, _ own: CommandGateOptions) throws {
    (self.options, self.own) = (options, own)
    if let option = options.givenForSuites() {
      throw Complaint(.usage, "\(option) is for programs with a suite of benchmarks; leave it out for commands")
    }
    guard options.base != nil else {
      throw Complaint(.usage, "gate needs --base: the command or the revision to compare with")
    }
    guard options.head != nil else {
      throw Complaint(.usage, "gate needs --head: the command or the revision to judge")
    }
    if own.build != nil || own.run != nil, own.run == nil {
      throw Complaint(.usage, "--build needs --run: the command that runs in each checkout")
    }
    if own.commands.read == nil, options.benchmark != nil {
      throw Complaint(.usage, "--benchmark needs --read: without it the command is the only benchmark")
    }
    try options.checkBenchmark()
    FileCall.ignoreSignals()
  }

  /// Throws the exit code of the verdict unless it is a pass.
  package func run() throws {
    Interrupt.install()
    let conditions = try own.commands.conditions(seed: options.seed)
    try options.checkReports()
    let commands = own.run.map { [$0, $0] } ?? [options.base ?? "", options.head ?? ""]
    let texts = try commands.map { text throws(Complaint) in try CommandText(text) }
    for warning in MachineWarnings.before(isOptimised: true) { progress.say(warning) }
    guard own.run != nil else {
      return try compare(CommandSide("base", texts[0]), CommandSide("head", texts[1]), conditions)
    }
    let checkouts = try RevisionCheckouts(progress)
    defer { checkouts.remove() }
    let folders = try [options.base ?? "", options.head ?? ""].enumerated().map { index, revision in
      try checkouts.make(["base", "head"][index], revision, build: own.build)
    }
    try compare(
      CommandSide("base", texts[0], folder: folders[0]), CommandSide("head", texts[1], folder: folders[1]), conditions)
  }

  private func compare(_ base: CommandSide, _ head: CommandSide, _ conditions: CommandConditions) throws {
    let began = Clock.now()
    let load = SystemLoad.read()
    let matches = try options.benchmark.map { try NamePattern.read($0, of: "--benchmark") }
    let judge = CommandJudge(
      threshold: 1 + (own.threshold ?? 0.02), failsOnMissing: options.allOfBase,
      isChosen: { name in matches.map { name.contains($0) } ?? true })
    var runner = CommandRunner(base: base, head: head, conditions, effects: .machine(progress))
    let outcome = Result { () throws(CommandRunner.Failure) in try runner.blocks { judge.isDone($0, most: $1) } }
    progress.clear()
    try GateInvocation.stopIfInterrupted()
    var findings: [GateFinding] = []
    var notes: [String] = []
    switch outcome {
    case .success(let blocks):
      let found = try judge.findings(blocks)
      findings = found.findings
      notes = found.notes + CommandNotes.notes(blocks, conditions, throughShell: runner.throughShell)
    case .failure(let failure) where failure.isBase:
      throw Complaint(.unavailable, "the base cannot be measured: \(failure.reason)")
    case .failure(let failure):
      findings = [
        GateFinding(
          tier: .deterministic, NamedNumber.whole, GateFinding.selfCheck, .regression, reason: failure.reason)
      ]
    }
    let report = GateReport(
      base: options.baseName ?? options.base, head: options.headName ?? options.head ?? "",
      provenance: .here(commit: GateInvocation.commit(), command: CommandLine.arguments),
      seconds: Double(Clock.now() - began) / 1e9, stealShare: SystemLoad.read().stealShare(since: load),
      findings: findings, notes: notes)
    try options.publish(report)
    if report.verdict != .pass { throw ExitCode(report.verdict.exitCode) }
  }
}
