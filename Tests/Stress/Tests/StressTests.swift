import StressEngine
import TestSupport
import Testing

/// Everything at once, on every backend. One at a time: they use all processors each.
@Suite(.serialized) struct StressTests {
  @Test(arguments: allBackends)
  func `random work, cancelled, suspended, limited, with barriers and nested waits`(backend: TestBackend) {
    let report = StressRun.run(backend, .fromEnvironment)
    print(report)
    for failure in report.failures { Issue.record("\(failure)") }
    #expect(report.rounds > 0 && report.ran > 0 && report.trees > 0)
  }
}
