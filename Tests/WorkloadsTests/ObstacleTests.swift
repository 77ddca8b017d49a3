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

  /// The newest first may leave an operation waiting for ever: a benchmark that awaits one while others add others
  /// would hang.
  @Test func whatAwaitsTurnsIsEmptyForAStrategyThatMayStarve() throws {
    let words = "its strategy may leave an operation waiting for ever while others add others"
    func obstacle(_ workload: any Workload, _ name: String, _ key: String, _ value: String) throws -> String? {
      let subject = try #require(try SubjectRegistry.subject(name))
      let sets = workload.parameterSets() + workload.extendedParameterSets()
      return workload.obstacle(subject, try #require(sets.first { $0[key] == value }))
    }
    for name in ["stealing(own=lifo)", "stealing-bare(own=lifo;steal=half)", "threadpool(order=lifo)"] {
      #expect(try obstacle(Burst(), name, "state", "busy") == words)
      #expect(try obstacle(Burst(), name, "state", "idle") == nil)
      #expect(try obstacle(SubmitterFairness(), name, "from", "inside") == words)
      #expect(try obstacle(SubmitterFairness(), name, "from", "outside") == nil)
    }
    for name in ["stealing", "stealing(own=lifo:8)", "stealing(steal=half)", "threadpool(order=fifo)", "foundation"] {
      #expect(try obstacle(Burst(), name, "state", "busy") == nil)
      #expect(try obstacle(SubmitterFairness(), name, "from", "inside") == nil)
    }
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
