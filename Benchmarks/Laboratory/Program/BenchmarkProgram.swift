import ArgumentParser
import Glibc
import HarnessWords

/// A program of benchmarks. Its `main` lists the benchmarks, measures each in processes of its own, compares results,
/// shows that its numbers can be trusted, and compares one build of the program with another.
///
/// ```swift
/// @main struct MyBenchmarks: BenchmarkProgram {
///   static let benchmarks = [Benchmark("words/count") { … }]
/// }
/// ```
public protocol BenchmarkProgram: SendableMetatype {
  /// The benchmarks of the program, in the order of `list`.
  static var benchmarks: [Benchmark] { get }
  /// The name under which results are filed: the same in every build. By default the name of the type.
  static var name: String { get }
  /// The subject with which the others are compared. By default the subject of the first benchmark.
  static var reference: String { get }
}

extension BenchmarkProgram {
  /// The name of the type.
  public static var name: String { "\(Self.self)" }

  /// The subject of the first benchmark; the program's name where that benchmark names none.
  public static var reference: String { benchmarks.first?.subject ?? name }

  /// Every subject once, in the order of the benchmarks.
  static var subjects: [String] { Benchmark.subjects(of: benchmarks, in: name) }

  /// Parses the command line, and runs the named subcommand: `list`, `run`, `compare`, `report`, `gate` or `validate`.
  public static func main() {
    CommandLineProgram.run(ProgramCommand<Self>.self, measuring: ProgramSuite<Self>.self, check: check)
  }

  /// Complains when the benchmarks are not described well.
  static func check() throws {
    if let mistake = BenchmarkMistakes.first(in: benchmarks, of: name, reference: reference) {
      throw Complaint(.software, mistake)
    }
  }
}

struct ProgramCommand<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: ProgramName.own, abstract: "Measures its benchmarks, and holds one build against another.",
      subcommands: [
        ProgramList<Program>.self, ProgramRun<Program>.self, CompareCommand<ProgramSuite<Program>>.self,
        MergeCommand<ProgramSuite<Program>>.self, ReportCommand.self, ProgramGate.self,
        ValidateCommand<ProgramSuite<Program>>.self, MeasureCommand<ProgramSuite<Program>>.self,
      ])
  }
}

struct ProgramList<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "list", abstract: "Name the benchmarks, with their parameters.")
  }

  func run() throws {
    let text = ProgramList.lines().map { "\($0)\n" }.joined()
    try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
  }
}

extension ProgramList {
  /// A line for each scenario; where the program has several subjects, with the subjects that have the scenario.
  static func lines() -> [String] {
    ProgramSuite<Program>.scenarios.map { scenario, benchmarks in
      guard Program.subjects.count > 1 else { return "\(scenario)" }
      return "\(scenario)  (\(benchmarks.map { $0.arm(in: Program.name).subject }.joined(separator: ", ")))"
    }
  }
}

struct ProgramGate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gate", abstract: "Hold one build of this program against another.",
    discussion: """
      Tier 0 counts allocations, bytes and threads, which are the same every time, against a record (--record makes one). Tier 1 \
      compares instructions, CPU time and context switches. Tier 2 compares wall-clock times in blocks of base, head and base \
      again; what looks changed is measured afresh before it counts. Exit code 0 pass, 2 regression, 3 inconclusive, 4 \
      improvement.
      """)

  @OptionGroup var options: GateOptions

  func run() throws { try GateInvocation(options).run() }
}
