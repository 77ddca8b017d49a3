import Testing

@testable import OperationCore

/// Every interleaving of everything that can happen to one operation, up to a few of each, with the real transitions.
@Suite struct LifecycleModelTests {
  /// Visits every state that can be reached from `start`.
  /// - Returns: how many there are.
  private func explore(_ start: LifecycleModel, _ visit: (LifecycleModel, _ canGoOn: Bool) -> Void) -> Int {
    var known: Set<LifecycleModel> = [start]
    var left = [start]
    while let state = left.popLast() {
      var canGoOn = false
      for step in LifecycleModel.Step.allCases {
        guard let next = state.after(step) else { continue }
        if Self.isInternal(step) { canGoOn = true }
        if known.insert(next).inserted { left.append(next) }
      }
      visit(state, canGoOn)
    }
    return known.count
  }

  /// Steps that the library or a dependency's finish takes by itself, sooner or later.
  private static func isInternal(_ step: LifecycleModel.Step) -> Bool {
    switch step {
    case .cancel, .changePriority, .addDependency, .engage, .post, .waiterClaims, .finishEarly: false
    case .releaseEdge, .releaseOwnCount, .examine, .takeLink, .takeMoved, .takeStale, .finish, .returnLink: true
    }
  }

  /// What is wrong with a state.
  private static func defects(_ state: LifecycleModel, canGoOn: Bool) -> [String] {
    let word = state.word
    let holdsLink = state.link != .none || state.running == .byLink || state.running == .returning
    let isWaiting = !word.has(StateWord.started) && !word.has(StateWord.finished)
    let current = word.has(StateWord.moved) ? state.moved : state.link
    let rules: [(String, isBroken: Bool)] = [
      ("left its queue twice", state.leaves > 1),
      ("started twice", state.starts > 1),
      ("left too early, or nobody let it leave", (state.leaves == 1) != word.mayLeave),
      ("miscounted dependencies", word.dependencyCount != UInt64(state.edges + (state.hasOwnCount ? 1 : 0))),
      ("the link's flag and its use differ", word.has(StateWord.linked) != holdsLink),
      ("skipped differs from what happened", word.has(StateWord.skipped) != (state.skips == 1)),
      ("skipped without being cancelled", word.has(StateWord.skipped) && !word.has(StateWord.cancelled)),
      ("executing by nobody", word.isExecuting && state.running == .nobody),
      ("scheduled, and no entry stands for it", isWaiting && word.has(StateWord.scheduled) && current == .none),
      ("ready, and nobody scheduled it", isWaiting && word.isReady && !word.has(StateWord.scheduled)),
      ("everything came to rest, and it has not left", !canGoOn && state.leaves == 0),
    ]
    return rules.filter(\.isBroken).map(\.0)
  }

  private func expectSound(_ start: LifecycleModel, atLeast states: Int) {
    var defects: [String: (count: Int, example: LifecycleModel)] = [:]
    let count = explore(start) { state, canGoOn in
      for defect in Self.defects(state, canGoOn: canGoOn) {
        defects[defect] = ((defects[defect]?.count ?? 0) + 1, defects[defect]?.example ?? state)
      }
    }
    for (defect, (count, example)) in defects { Issue.record("\(defect): \(count) states, for example \(example)") }
    // A search that no longer gets anywhere would find nothing wrong.
    #expect(count >= states)
  }

  @Test func `with no dependency, moved twice, cancelled, and a controller that engages`() {
    expectSound(
      LifecycleModel(edges: 0, budget: .init(lateDependencies: 0, posts: 0, waiters: 0, earlyFinishes: 0)),
      atLeast: 200)
  }

  @Test func `with dependencies, before and after it was scheduled`() {
    expectSound(
      LifecycleModel(
        edges: 2, budget: .init(priorityChanges: 1, lateDependencies: 2, engagements: 0, posts: 0, earlyFinishes: 0)),
      atLeast: 500)
  }

  @Test func `with a waiter, and posts of properties`() {
    expectSound(
      LifecycleModel(edges: 1, budget: .init(priorityChanges: 1, engagements: 0, posts: 2, earlyFinishes: 0)),
      atLeast: 500)
  }

  @Test func `with everything once, also a finish before the start`() {
    expectSound(LifecycleModel(edges: 1, budget: .init(priorityChanges: 1)), atLeast: 5000)
  }

  @Test func `the search finds what a broken transition would do`() {
    // An operation of which some thread forgot to give the link back.
    var broken = LifecycleModel(edges: 0, budget: .init(cancels: 0, priorityChanges: 0, lateDependencies: 0))
    broken.bits |= StateWord.linked
    var defects: Set<String> = []
    _ = explore(broken) { state, canGoOn in
      defects.formUnion(Self.defects(state, canGoOn: canGoOn))
    }
    #expect(defects.contains("the link's flag and its use differ"))
    #expect(defects.contains("everything came to rest, and it has not left"))
  }
}
