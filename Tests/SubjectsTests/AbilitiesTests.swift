import Testing

@testable import Subjects

/// What subjects can do, in the words in which benchmarks say what they need.
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
    let ours = [
      "operations", "cancellation", "threads", "barriers", "suspension", "fairness", "millions", "queues", "forks",
      "loops", "collections", "tasks", "hops", "limits", "dependencies-at-once",
      "following", "recorded-graphs",
    ]
    #expect(able["stealing"] == ours && able["threadpool"] == ours && able["dispatch"] == ours)
    #expect(able["foundation"] == ["operations", "cancellation", "threads", "barriers", "suspension", "queues"])
    #expect(able["raw-dispatch"] == ["cancellation", "threads", "barriers", "suspension", "forks", "loops"])
    #expect(able["task-group"] == ["cancellation", "threads", "tasks", "hops"])
    #expect(able["stealing-default"] == able["task-group"])
    #expect(able["serial"] == ["forks", "loops", "collections"])
    #expect(able["nio"] == ["threads", "hops"] && able["nio-loop"] == ["hops"])
    #expect(able["go"] == ["threads", "forks"])
    #expect(able["tbb-flow"] == ["threads", "recorded-graphs"] && able["starpu"] == ["threads"])
  }
}
