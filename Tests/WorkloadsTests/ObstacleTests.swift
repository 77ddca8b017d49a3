import Subjects
import Testing

@testable import Workloads

/// What a benchmark needs, in the words in which subjects say what they can do.
struct ObstacleTests {
  @Test func anObstacleIsWhatIsMissing() throws {
    for workload in try Catalogue(graphs: [], seed: 1).workloads {
      for parameters in workload.parameterSets() + workload.extendedParameterSets() {
        for subject in SubjectRegistry.inProcess {
          let isAble = subject.abilities.isSuperset(of: workload.needs(parameters))
          #expect((workload.obstacle(subject, parameters) == nil) == isAble, "\(workload.name) on \(subject.name)")
        }
      }
    }
    let serial = try #require(SubjectRegistry.all.first { $0.name == "serial" })
    #expect(Barrier().obstacle(serial) == "it has no barriers")
    #expect(WakeIdle().obstacle(serial) == "it has no threads of its own")
    #expect(RankError().obstacle(serial) == "it has no operations with dependencies and priorities")
  }

  /// Whoever asks for it by a request of its own gets a reason, not a trap and not a process that never ends.
  @Test func nothingIsPreparedForASubjectThatLacksSomething() throws {
    for (workload, subject) in [(WakeIdle(), "serial"), (Barrier(), "nio"), (RankError(), "raw-dispatch")]
      as [(any Workload, String)]
    {
      #expect {
        try WorkloadTests.trial(workload, workload.parameterSets()[0], subject)
      } throws: {
        "\($0)".contains("means nothing on \(subject), which has no ")
      }
    }
  }
}
