import FoundationEssentials
import Subjects
import Testing

@testable import HarnessWords
@testable import Workloads

/// What `opbench list` shows.
struct BenchmarkListingTests {
  /// No peer is built.
  let peers = PeerPrograms(folders: [])

  func listing(_ text: String? = nil) throws -> Listing {
    let catalogue = try Catalogue(graphs: [], seed: 1)
    return try text.map { try Listing(catalogue, matching: $0, peers: peers) } ?? Listing(catalogue, peers: peers)
  }

  @Test(arguments: [60, 80, 100, 120])
  func theOverviewIsShortAndFits(width: Int) throws {
    let text = ListingOverview(try listing()).text(width: width)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.allSatisfy { $0.count <= width })
    if width >= 80 { #expect(lines.count <= 60, "\(lines.count)") }
    for subject in SubjectRegistry.all { #expect(text.contains("\n  \(subject.name) ")) }
    for workload in try Catalogue(graphs: [], seed: 1).workloads { #expect(text.contains(workload.name.benchmark)) }
    #expect(text.contains("opbench list overhead") && text.contains("--json"))
  }

  @Test(arguments: [60, 100])
  func theDetailsOfAFamilyFit(width: Int) throws {
    let text = ListingDetails(try listing("dependencies")).text(width: width)
    let longest = text.split(separator: "\n").max { $0.count < $1.count } ?? ""
    #expect(longest.count <= width, "\(longest)")
    for word in ["dependencies/fan-out", "width=400", "variants, with --variants\n    width=1000", "ns_per_op (ns)"] {
      #expect(text.contains(word), "\(word)")
    }
    #expect(!text.contains("overhead/"))
  }

  @Test func whatIsNoPartOfADefaultRunIsListed() throws {
    #expect(ListingOverview(try listing()).text(width: 100).contains("\n  strategy "))
    let text = ListingDetails(try listing("strategy/burst")).text(width: 100)
    let heading = "  in a run that names the benchmark, or with --variants\n"
    #expect(text.contains(heading + "    ops=64;state=idle;work_ns=1000"))
    let sets = ListingDocument(try listing("strategy/burst")).benchmarks.flatMap(\.parameterSets)
    #expect(sets.count == 2 && sets.allSatisfy(\.isVariant))
  }

  @Test func emptyCellsHaveTheirReasons() throws {
    let text = ListingDetails(try listing("rank-error")).text(width: 200)
    #expect(text.contains("empty for  ") && text.contains("it has no operations with dependencies and priorities"))
  }

  @Test func aSubjectHasDetailsToo() throws {
    #expect(
      ListingDetails(try listing("stealing")).text(width: 100).contains(
        "operations, cancellation, threads, barriers, suspension"))
    let peer = ListingDetails(try listing("tbb")).text(width: 100)
    #expect(peer.contains("forkjoin/uts") && peer.contains("scripts/peers tbb"))
  }

  @Test func whatIsNotThereIsAComplaint() {
    #expect { try listing("nothing-like-it") } throws: { ($0 as? Complaint)?.code == .usage }
    #expect { try listing("[") } throws: { "\($0)".contains("regular expression") }
  }

  @Test func theDocumentHasEverything() throws {
    let document = ListingDocument(try listing())
    let read = try JSONDecoder.snake.decode(ListingDocument.self, from: Data(try document.json().utf8))
    #expect(read.schema == 1 && read.subjects.map(\.name) == SubjectRegistry.all.map(\.name))
    let catalogue = try Catalogue(graphs: [], seed: 1).workloads
    #expect(read.benchmarks.map(\.name) == catalogue.map { "\($0.name)" })
    for (listed, workload) in zip(read.benchmarks, catalogue) {
      #expect(listed.parameterSets.count { !$0.isVariant } == workload.parameterSets().count)
      #expect(listed.parameterSets.count { $0.isVariant } == workload.extendedParameterSets().count)
      #expect(listed.metrics.map(\.name) == workload.metrics.map(\.name))
    }
    let rank = try #require(read.benchmarks.first { $0.name == "priority/rank-error" })
    #expect(rank.parameterSets.allSatisfy { $0.empty["raw-dispatch"] != nil && $0.empty["stealing"] == nil })
    #expect(ListingDocument(try listing("dependencies/fan-out")).benchmarks.count == 1)
  }
}

extension JSONDecoder {
  fileprivate static var snake: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }
}
