import Testing

@testable import HarnessStatistics
@testable import Workloads

struct GranularitySweepTests {
  /// A sweep over runs that only exist here, of subjects with very different costs.
  @Test(arguments: [300.0, 5_000, 60_000])
  func theLadderFindsWhatItNeeds(overhead: Double) throws {
    let graph = TaskGraph(inputs: [[], [], [], []], nanoseconds: [1, 1, 1, 1])
    var works: [Double] = []
    let ladder = GranularitySweep(graph, cores: 2) { work in
      works.append(work)
      return (work + overhead) * 2
    }
    let makespans = try ladder.run(2, peak: 1)
    let readings = try METG.readings(makespans, ladder.constants(peak: 1))
    let half = try #require(readings.first { $0.metric == .metg(50) })
    #expect(abs(half.value / (2 * overhead) - 1) < 0.02)
    if overhead * 19 < GranularitySweep.largest / 2 {
      let most = try #require(readings.first { $0.metric == .metg(95) })
      #expect(abs(most.value / (20 * overhead) - 1) < 0.02)
    }
    #expect(works.allSatisfy { $0 <= GranularitySweep.largest })
    #expect(makespans.map(\.work) == makespans.map(\.work).sorted(by: >))
  }
}
