import Subjects
import Testing

@testable import Harness
@testable import Workloads

/// What subjects can do and benchmarks need, in the same words.
struct AbilitiesTests {
  private struct Kinds: SubjectVisitor {
    var kinds: [(name: String, abilities: Abilities, kind: Abilities)] = []

    mutating func visit<S: ClosureSubject>(_ subject: S.Type) { kinds.append((S.name, S.abilities, [])) }
    mutating func visit<S: CancellableSubject>(_ subject: S.Type) { kinds.append((S.name, S.abilities, .cancellation)) }
    mutating func visit<S: OperationSubject>(_ subject: S.Type) {
      kinds.append((S.name, S.abilities, [.cancellation, .operations]))
    }
  }

  @Test func aSubjectSaysWhatItsKindDoes() {
    var kinds = Kinds()
    SubjectRegistry.visitAll(&kinds)
    for (name, abilities, kind) in kinds.kinds {
      #expect(abilities.intersection([.cancellation, .operations]) == kind, "\(name)")
    }
    let able = Dictionary(uniqueKeysWithValues: SubjectRegistry.all.map { ($0.name, $0.abilities.names) })
    #expect(able["stealing"] == ["operations", "cancellation", "threads", "barriers", "suspension"])
    #expect(able["raw-dispatch"] == ["cancellation", "threads", "barriers", "suspension"])
    #expect(able["task-group"] == ["cancellation", "threads"] && able["serial"] == [])
    #expect(able["nio"] == ["threads"] && able["go"] == ["threads"])
  }

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
