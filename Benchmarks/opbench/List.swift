import ArgumentParser
import Glibc
import HarnessWords
import Laboratory
import Workloads

/// `opbench list`: lists the subjects and benchmarks.
struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List subjects and benchmarks; of those named, parameters, metrics, units and empty cells.")

  @Argument(
    help: "A family, a benchmark, a regular expression as for --benchmark, or a subject (default: an overview).",
    completion: .custom { _, _, _ in SuiteCompletions.benchmarks(OpbenchSuite()) })
  var name: String?

  @Flag(help: "Everything about what is listed, for programs.")
  var json = false

  func run() throws {
    let catalogue = try Catalogue(graphs: [], seed: 1)
    let listing = try name.map { try Listing(catalogue, matching: $0) } ?? Listing(catalogue)
    try DescriptorOutput.write(try text(listing), to: STDOUT_FILENO, name: "standard output")
  }

  private func text(_ listing: Listing) throws -> String {
    if json { return try ListingDocument(listing).json() }
    let width = TextWidth.columns(of: STDOUT_FILENO)
    return name == nil ? ListingOverview(listing).text(width: width) : ListingDetails(listing).text(width: width)
  }
}
