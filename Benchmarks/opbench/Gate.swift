import ArgumentParser
import Glibc
import HarnessWords
import Laboratory
import Subjects

/// `opbench gate`: tells whether a change has made anything slower.
struct Gate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Hold one build against another: pass, regression, inconclusive or improvement.",
    discussion: """
      Tier 0 checks what is the same every time: self-checks, allocations, bytes and threads, against a record. Tier 1 \
      compares what hardly varies: instructions, CPU time and context switches at one worker. Tier 2 compares wall-clock \
      times in blocks of base, head and base again, until the intervals are narrow enough to tell. Exit code 0 pass, \
      2 regression, 3 inconclusive, 4 improvement. scripts/gate BASE HEAD builds two git revisions first.

      Commands of any language: --base and --head take commands with arguments. Their time, CPU time and memory are \
      compared, or with --read what they print. With --run they are git revisions, which --build builds.
      """)

  @OptionGroup var options: GateOptions
  @OptionGroup var commands: CommandGateOptions

  @Option(help: "Which of our subjects to measure (default: stealing).", completion: .list(Self.subjects))
  var backend: String?

  @Flag(help: "Put the gate to itself: equals, a known slowdown, an allocation, noise. Exit code 0 when it is right.")
  var selfTest = false

  @Flag(help: "With --self-test: all gated benchmarks instead of two at one worker.")
  var whole = false

  @Option(
    parsing: .unconditional,
    help: "With --self-test: n runs of each case, for the rates of false alarms and detection. Needs --log.",
    transform: OptionNumber.count(in: 1...10_000))
  var runs: Int?

  @Option(help: "With --runs: the file that each run appends a line to, and that the same command goes on with.")
  var log: String?

  @Option(parsing: .unconditional, help: "With --runs: begin no run that would not end within n minutes.")
  var minutes: Double?

  static let subjects = SubjectRegistry.inProcess.filter { $0.abilities.contains(.operations) }.map(\.name)

  /// The checkout from which this program was built.
  static let checkout =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  static let folder = "\(checkout)/results/gate"

  func run() throws {
    if !selfTest, commands.isAsked(options) {
      guard backend == nil else { throw Complaint(.usage, "--backend is for programs with a suite of benchmarks") }
      return try CommandGate(options, commands).run()
    }
    if let backend, !Self.subjects.contains(backend) {
      throw Complaint(
        .usage, "the gate has no subject '\(backend)'\(Suggestion.words(for: backend, among: Self.subjects))")
    }
    if selfTest { return try runSelfTest() }
    for (option, isGiven) in [
      ("--whole", whole), ("--runs", runs != nil), ("--log", log != nil), ("--minutes", minutes != nil),
    ] where isGiven {
      throw Complaint(.usage, "\(option) goes with --self-test")
    }
    try GateInvocation(options, folder: Self.folder, subject: backend).run()
  }
}

extension Gate {
  private func runSelfTest() throws {
    let others: [(String, Bool)] = [
      (commands.given ?? "", commands.given != nil), ("--backend", backend != nil),
      ("--benchmark", options.benchmark != nil),
      ("--calibrate", options.calibrate != nil), ("--output", options.output != nil),
      ("--record", options.record != nil),
    ]
    // The thresholds are for the gated benchmarks, which run only with --whole.
    if let option = options.given(beyond: whole ? ["--thresholds"] : []) ?? others.first(where: \.1)?.0 {
      throw Complaint(.usage, "--self-test takes no \(option): it is this program against itself")
    }
    let job = ReportedSelfTest(
      resources: try GateInvocation.resources(options, folder: Self.folder), whole: whole, seed: options.seed)
    guard let runs else {
      guard log == nil, minutes == nil else {
        throw Complaint(.usage, "\(log != nil ? "--log" : "--minutes") goes with --runs")
      }
      return try job.check()
    }
    guard let log else { throw Complaint(.usage, "--runs needs --log: the file to append each run to") }
    if let minutes, !(minutes > 0) { throw Complaint(.usage, "--minutes takes a time above 0, not \(minutes)") }
    try job.runs(runs, log: log, minutes: minutes ?? .infinity)
  }
}
