import DifferentialEngine
import TestSupport
import Testing

/// Random programs against the reference model. One at a time: each uses all processors.
@Suite(.serialized) struct DifferentialTests {
  /// Fresh programs in every part of the code, the same on every run.
  @Test(arguments: allBackends)
  func `random programs do what the model says`(backend: TestBackend) {
    var settings = DifferentialSettings()
    settings.programs = part(300, of: 1_000)
    settings.seconds = 60
    let report = DifferentialRun.run(backend, settings)
    print(report.summary)
    #expect(report.programs > 0 && report.ran > 0)
    for failed in report.failures {
      Issue.record("seed \(failed.seed): \(failed.failure)\n\(failed.shrunk ?? failed.program)")
    }
  }

  /// Every program that ever failed, on every backend.
  @Test(arguments: allBackends)
  func `programs that failed once pass`(backend: TestBackend) throws {
    let programs = try Corpus.programs()
    #expect(!programs.isEmpty)
    for (name, program) in programs {
      let failure = DifferentialRun.replay(program, on: backend, times: part(10, of: 30), DifferentialSettings())
      #expect(failure == nil, "\(name) on \(backend): \(failure.map { "\($0)" } ?? "")")
    }
  }
}
