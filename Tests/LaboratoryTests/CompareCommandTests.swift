import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessResults
@testable import HarnessWords
@testable import Laboratory

struct CompareCommandTests {
  private enum NoBenchmarks: BenchmarkProgram {
    static let benchmarks: [Benchmark] = []
  }

  /// `--strict` fails on what is not shown, and on other conditions.
  @Test func strictness() throws {
    typealias Compare = CompareCommand<ProgramSuite<NoBenchmarks>>
    func compare(_ after: [Row], _ seed: String = "1") throws -> Comparison {
      let before = ResultSet(name: "b.csv", rows: Sample.result, record: Sample.record("system (x)"))
      return try Comparison(
        before: before, after: ResultSet(name: "a.csv", rows: after, record: Sample.record("system (\(seed))")),
        metrics: .primary, seed: 1)
    }
    let known = ResultSet(name: "k.csv", rows: Sample.result, record: Sample.record("system (x)"))
    try Compare.refuse(compare(Sample.result, "x"), of: [known, known])
    #expect { try Compare.refuse(compare(Sample.result, "y"), of: [known, known]) } throws: {
      ($0 as? Complaint)?.code == .badInput
    }
    // What is not known is not equal, in one result as in two.
    let unknown = ResultSet(name: "u.csv", rows: Sample.result, record: nil)
    for sets in [[unknown], [known, unknown], [unknown, known], [unknown, unknown]] {
      #expect { try Compare.refuse(compare(Sample.result, "x"), of: sets) } throws: { error in
        (error as? Complaint)?.code == .badInput
          && (error as? Complaint)?.description.contains("u.csv has no .env.json beside it") == true
      }
    }
    let more = Sample.result + Sample.rows(Sample.raw, block: 1, [1])
    #expect { try Compare.refuse(compare(more, "y"), of: [known, known]) } throws: { error in
      (error as? Complaint)?.code == .software
        && (error as? Complaint)?.description == "--strict: 1 cell without a ratio, as the lines above say"
    }
  }

  @Test func timesOnDifferentAllocatorsAreRefused() {
    let pair = ["system (x)", "jemalloc (/x)"].map { allocator in
      ResultSet(name: "a.csv", rows: Sample.result, record: Sample.record(allocator))
    }
    typealias Compare = CompareCommand<ProgramSuite<NoBenchmarks>>
    #expect(Compare.allocatorsDiffer(pair)?.description.contains("--across-allocators") == true)
    #expect(Compare.allocatorsDiffer([pair[0], pair[0]]) == nil)
    #expect(Compare.allocatorsDiffer([pair[0]]) == nil)
  }
}
