import ArgumentParser
import Glibc
import Harness

/// The hidden subcommand of every measuring process: takes one request, and writes lines of results.
package struct MeasureCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "measure", abstract: "Measure one cell in this process.", shouldDisplay: false)
  }

  @Argument(help: "The request, as run, validate and gate write it.")
  var request: String

  package init() {}

  package func run() throws { try Self.measure(request, Program.suite) }

  /// Answers a request and ends the process.
  static func measure(_ request: String, _ suite: any Suite) throws -> Never {
    try answer(request, suite)
    // `_exit` instead of `exit`, because workers may still be running, and `exit` would destroy objects that the
    // workers use.
    _exit(0)
  }

  private static func answer(_ request: String, _ suite: any Suite) throws {
    if request == MeasureRequest.nothing { return }
    if request == GateSuite.request {
      let lines = GateSuite(build: GateSuite.ownBuild, cells: suite.gated).lines
      return try ResultFiles.write(
        lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "the suite")
    }
    let request = try MeasureRequest(encoded: request)
    if let place = request.place { CPUs.begin(on: place) }
    func write(_ line: ResultLine) {
      try? ResultFiles.write(line.text + "\n", to: STDOUT_FILENO, name: "the result")
    }
    if let trial = try suite.trial(request) {
      MeasuringProcess(trial, allocator: request.allocator, tracer: suite.tracer, write: write).run(request.mode)
    } else {
      write(.absent)
    }
  }
}
