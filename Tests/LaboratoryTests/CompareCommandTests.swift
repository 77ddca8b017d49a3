import LaboratorySupport
import Testing

@testable import Harness
@testable import Laboratory

struct CompareCommandTests {
  private enum NoBenchmarks: BenchmarkProgram {
    static let benchmarks: [Benchmark] = []
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
