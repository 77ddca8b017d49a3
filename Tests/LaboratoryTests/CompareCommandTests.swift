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
    try Compare.refuse(compare(Sample.result, "x"))
    #expect { try Compare.refuse(compare(Sample.result, "y")) } throws: { ($0 as? Complaint)?.code == .badInput }
    let more = Sample.result + Sample.rows(Sample.raw, block: 1, [1])
    #expect { try Compare.refuse(compare(more, "y")) } throws: { error in
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
