import ArgumentParser
import Glibc
import Harness

/// A program of benchmarks: its `main` lists them, measures each in processes of its own, and holds one build of itself
/// against another.
///
/// ```swift
/// @main struct MyBenchmarks: BenchmarkProgram {
///   static let benchmarks = [Benchmark("words/count") { … }]
/// }
/// ```
public protocol BenchmarkProgram {
  static var benchmarks: [Benchmark] { get }
  /// What results are filed under: the same in every build. By default the name of the type.
  static var name: String { get }
}

extension BenchmarkProgram {
  public static var name: String { "\(Self.self)" }

  public static func main() { CommandLineProgram.run(ProgramCommand<Self>.self, named: name) }

  /// What this program offers to the gate.
  static var suite: GateSuite {
    GateSuite(build: GateSuite.ownBuild, cells: benchmarks.map { $0.gated(subject: name) })
  }
}

struct ProgramCommand<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Program.name, abstract: "Measures its benchmarks, and holds one build against another.",
      subcommands: [
        ProgramList<Program>.self, ProgramRun<Program>.self, ProgramGate<Program>.self, ProgramMeasure<Program>.self,
      ])
  }
}

struct ProgramList<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "list", abstract: "Name the benchmarks.")
  }

  func run() throws {
    let text = Program.benchmarks.map { "\($0.name)\n" }.joined()
    try ResultFiles.write(text, to: STDOUT_FILENO, name: "standard output")
  }
}

struct ProgramGate<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "gate", abstract: "Hold one build of this program against another.",
      discussion: "Exit code 0 pass, 2 regression, 3 inconclusive, 4 improvement; as opbench gate, which explains more."
    )
  }

  @OptionGroup var options: GateOptions

  func run() throws { try GateJob(options, GateJob.Setting()).run() }
}

/// The hidden subcommand that every measuring process is started with.
struct ProgramMeasure<Program: BenchmarkProgram>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "measure", abstract: "Measure one benchmark in this process.", shouldDisplay: false)
  }

  @Argument(help: "The request, as run and gate write it.")
  var request: String

  func run() throws {
    if request == GateSuite.request {
      let lines = Program.suite.lines.joined(separator: "\n") + "\n"
      return try ResultFiles.write(lines, to: STDOUT_FILENO, name: "the suite")
    }
    let request = try MeasureRequest(encoded: request)
    guard let benchmark = Program.benchmarks.first(where: { $0.name == request.name }) else {
      throw Complaint(.usage, "there is no \(request.name) on \(request.subject)")
    }
    MeasuringProcess(try benchmark.trial(), allocator: request.allocator) { line in
      try? ResultFiles.write(line.text + "\n", to: STDOUT_FILENO, name: "the result")
    }.run(request.mode)
    // Not `exit`: threads may still be running, and what they use must not be taken down under them.
    _exit(0)
  }
}
