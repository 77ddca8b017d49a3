import ArgumentParser
import CMeasure
import Glibc
import HarnessGate
import HarnessMeasuring

/// The hidden subcommand of every measuring process: takes one request, and writes lines of results.
package struct MeasureCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "measure", abstract: "Measure one cell in this process.", shouldDisplay: false)
  }

  @Argument(help: "The request, as run, validate and gate write it.")
  var request: String

  package init() {}

  package func run() throws { try Self.measure(request, Program.suite, ResultChannel()) }

  /// Answers a request and ends the process.
  static func measure(_ request: String, _ suite: any Suite, _ channel: ResultChannel) throws -> Never {
    // Nobody waits for the answer when whoever asked is gone, and a process that nobody waits for disturbs what is
    // measured next.
    opbench_end_with_parent()
    try answer(request, suite, channel)
    // `_exit` instead of `exit`, because workers may still be running, and `exit` would destroy objects that the
    // workers use.
    _exit(0)
  }

  private static func answer(_ request: String, _ suite: any Suite, _ channel: ResultChannel) throws {
    if request == MeasureRequest.nothing { return }
    if request == GateSuite.request {
      return try channel.write(GateSuite(build: GateSuite.ownBuild, cells: suite.gated).lines, name: "the suite")
    }
    let request = try MeasureRequest(encoded: request)
    if let place = request.place { CPUs.begin(on: place) }
    var lost: (any Error)?
    func write(_ line: ResultLine) {
      guard lost == nil else { return }
      do { try channel.write([line.text], name: "the result") } catch { lost = error }
    }
    if let trial = try suite.trial(request) {
      // What the benchmark has started, such as a server, must not run beside others either: the whole group stops.
      MeasuringProcess(
        trial, allocator: request.allocator, tracer: suite.tracer, stop: { kill(0, SIGSTOP) }, write: write
      ).run(request.mode)
    } else {
      write(.absent)
    }
    if let lost { throw lost }
  }
}
