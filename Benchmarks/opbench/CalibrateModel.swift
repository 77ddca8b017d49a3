import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords
import Laboratory
import Simulation

/// `opbench calibrate-model`: measures on this machine what the steps of a pool cost.
struct CalibrateModel: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibrate-model",
    abstract: "Measure what an operation, an edge, a steal and a wake cost here, for simulate.",
    discussion: """
      Every round measures every value once, in a process of its own. The file has the median over the rounds with its 95 % \
      interval, and where each value comes from. What passes between CPUs is measured between groups of CPUs and between \
      sockets as far as this machine has them. What it has not is a multiple of what it has, as published of another machine, \
      and the file says so.
      """)

  @Option(
    parsing: .unconditional, help: "Rounds, at least 6 for intervals.",
    transform: OptionNumber.count(in: OptionNumber.efforts))
  var rounds = 15

  @Option(help: "What to call the model (default: the machine).")
  var name: String?

  @Option(help: "Where to write the model; - is standard output.", completion: .file(extensions: ["json"]))
  var output = "-"

  @Flag(help: "Measure nothing: write the published costs, those of simulate without --model, as a file to be changed.")
  var published = false

  @Flag(help: "Replace the file of --output.")
  var overwrite = false

  /// What the process of a round is started with.
  @Flag(name: .customLong("one-round"), help: .hidden)
  var isOneRound = false

  func run() throws {
    if isOneRound {
      let lines = ModelCalibration.lines(of: try ModelMeasurement.measure())
      return try DescriptorOutput.write(lines, to: STDOUT_FILENO, name: "standard output")
    }
    if let name, let what = CostModel.mistake(inText: name) {
      throw Complaint(.usage, "--name '\(name)' \(what)")
    }
    if output != "-" {
      // Throws when a folder is there.
      _ = try OutputPlace(output)
      try ResultFiles.checkPlace(output, mayReplace: overwrite, holding: "is there already")
    }
    if published {
      guard name == nil else {
        throw Complaint(.usage, "--name has no place beside --published: the published costs have a name")
      }
      return try write(.manyCPUs)
    }
    Interrupt.install()
    let progress = Progress()
    for warning in MachineWarnings.before() { progress.say(warning) }
    var calibration = ModelCalibration()
    let start = Clock.now()
    for round in 0..<rounds {
      let outcome = ProcessRunner.run(
        ProcessRunner.thisProgram, ["calibrate-model", "--one-round"], environment: ProcessRunner.withoutBacktrace,
        timeout: 60)
      if Interrupt.isRequested {
        progress.clear()
        progress.say("interrupted: nothing is written")
        throw ExitCode(128 + SIGINT)
      }
      guard outcome.ending == .exited(0) else {
        throw Complaint(.software, "a round of calibrate-model \(outcome.ending.description)")
      }
      try calibration.add(outcome.lines)
      let elapsed = Double(Clock.now() - start) / 1e9
      progress.show(
        done: round + 1, total: rounds, what: "calibrate-model",
        secondsLeft: elapsed / Double(round + 1) * Double(rounds - round - 1))
    }
    progress.clear()
    try write(calibration.model(name: name, source: OpbenchSuite().source))
  }

  private func write(_ model: CostModel) throws {
    let text = try model.json()
    if output == "-" {
      try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
    } else {
      try ResultFiles.replace(output, with: text, syncs: true)
    }
  }
}
