import ArgumentParser
import Glibc
import Harness
import Workloads

/// The hidden subcommand that `run` starts for each cell: one request in, lines of results out.
struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Measure one cell in this process.", shouldDisplay: false)

  @Argument(help: "The request, as run writes it.")
  var request: String

  /// The request that measures nothing: what such a process takes is what starting one takes.
  static let nothing = "nothing"

  func run() throws {
    if request == Self.nothing {
      _ = try Catalogue(graphs: [], seed: 1)
      return
    }
    if request == GateSuite.request {
      let lines = GateSuite.own.lines.joined(separator: "\n") + "\n"
      return try ResultFiles.write(lines, to: STDOUT_FILENO, name: "the suite")
    }
    let request = try MeasureRequest(encoded: request)
    let catalogue = try Catalogue(graphs: request.graphs, seed: request.seed)
    guard let workload = catalogue.workloads.first(where: { $0.name == request.name }),
      let parameters = Parameters(request.parameters),
      let trial = try workload.prepare(
        subject: request.subject,
        Setting(
          parameters: parameters, workers: request.workers, seed: request.seed, spin: request.spin,
          serviceTime: request.serviceTime))
    else { throw Complaint(.usage, "there is no \(request.name) on \(request.subject)") }
    MeasuringProcess(trial, allocator: request.allocator, tracer: LibraryTracer.tracer) { line in
      try? ResultFiles.write(line.text + "\n", to: STDOUT_FILENO, name: "the result")
    }.run(request.mode)
    // Not `exit`: workers may still be running, and what they use must not be taken down under them.
    _exit(0)
  }
}
