import OperationBackends
import TestSupport
import Testing

@testable import DifferentialEngine

/// The model objects to what the contract does not allow, and to nothing else.
@Suite struct ModelTests {
  /// Three plain operations, a closure and one of each other kind; a queue with a limit of 1 and one without.
  private static let program = """
    backend 2
    queue 0 1
    queue 0 -1
    op main
    op main
    op main
    op closure
    op conditional
    op hand-written
    op blocks:1
    """

  private static func model(after events: [Event], of text: String = program) throws -> Model {
    var model = Model(try Program(text: text), features: .all, isOrdered: true)
    for event in events { model.take(event) }
    return model
  }

  private static func violations(_ events: [Event], of text: String = program) throws -> [String] {
    try model(after: events, of: text).violations.map(\.category)
  }

  private static func added(_ index: Int, _ queue: Int) -> [Event] {
    [.addBegins([index], queue: queue, isBarrier: false), .addEnded([index], queue: queue)]
  }

  private static func begins(_ index: Int, _ queue: Int) -> Event { .bodyBegins(index, block: 0, current: queue) }
  private static func ends(_ index: Int) -> Event { .bodyEnds(index, block: 0) }
  private static let suspended: [Event] = [.suspendEnded(queue: 0, seenStarted: [])]

  @Test func `what is allowed`() throws {
    let events =
      Self.added(0, 0) + Self.added(1, 0)
      + [Self.begins(0, 0), Self.ends(0), Self.begins(1, 0), Self.ends(1), .completed(0, inOrder: true, current: -1)]
    #expect(try Self.violations(events).isEmpty)
  }

  @Test func `a start in a suspended queue`() throws {
    #expect(try Self.violations(Self.suspended + Self.added(0, 0) + [Self.begins(0, 0)]) == ["start"])
    let claimed: [Event] = [.suspendEnded(queue: 0, seenStarted: [0])]
    #expect(try Self.violations(Self.added(0, 0) + claimed + [Self.begins(0, 0)]).isEmpty)
  }

  @Test func `a start beyond the limit`() throws {
    #expect(
      try Self.violations(Self.added(0, 0) + Self.added(1, 0) + [Self.begins(0, 0), Self.begins(1, 0)]) == ["start"])
    #expect(try Self.violations(Self.added(0, 1) + Self.added(1, 1) + [Self.begins(0, 1), Self.begins(1, 1)]).isEmpty)
  }

  @Test func `a start before a dependency, or before the condition holds`() throws {
    let depends: [Event] = [.dependBegins(0, on: 1), .dependEnded(0, on: 1, seenStarted: false)]
    #expect(try Self.violations(depends + Self.added(1, 1) + Self.added(0, 1) + [Self.begins(0, 1)]) == ["start"])
    let removed: [Event] = [.undependBegins(0, on: 1), .undependEnded(0, on: 1)]
    #expect(try Self.violations(depends + removed + Self.added(0, 1) + [Self.begins(0, 1)]).isEmpty)
    #expect(try Self.violations(Self.added(4, 1) + [Self.begins(4, 1)]) == ["start"])
  }

  @Test func `a start after the cancellation, and a second start`() throws {
    let cancelled: [Event] = [.cancelBegins(0), .cancelEnded(0, seenStarted: false)]
    #expect(try Self.violations(cancelled + Self.added(0, 1) + [Self.begins(0, 1)]) == ["cancel"])
    let all: [Event] = [.cancelAllBegins(queue: 1), .cancelAllEnded(queue: 1, seenStarted: [])]
    #expect(try Self.violations(Self.added(0, 1) + all + [Self.begins(0, 1)]) == ["cancel"])
    #expect(
      try Self.violations(Self.added(0, 1) + [Self.begins(0, 1), Self.ends(0), Self.begins(0, 1)]) == ["once", "once"])
  }

  @Test func `a step that runs because the step before was cancelled with it`() throws {
    let depends: [Event] = [.dependBegins(0, on: 1), .dependEnded(0, on: 1, seenStarted: false)]
    let added = depends + Self.added(1, 1) + Self.added(0, 1)
    #expect(try Self.violations(added + [.cancelAllBegins(queue: 1), Self.begins(0, 1)]) == ["cancel"])
    let alone: [Event] = [.cancelBegins(1), .cancelEnded(1, seenStarted: false), .cancelBegins(0), Self.begins(0, 1)]
    #expect(try Self.violations(added + alone).isEmpty)
  }

  @Test func `a start across a barrier`() throws {
    let barrier: [Event] = [.addBegins([3], queue: 1, isBarrier: true), .addEnded([3], queue: 1)]
    #expect(try Self.violations(Self.added(0, 1) + barrier + [Self.begins(3, 1)]) == ["start"])
    #expect(try Self.violations(barrier + Self.added(0, 1) + [Self.begins(0, 1)]) == ["start"])
    let inOrder: [Event] = [Self.begins(3, 1), Self.ends(3), Self.begins(0, 1)]
    #expect(try Self.violations(barrier + Self.added(0, 1) + inOrder).isEmpty)
  }

  @Test func `a start before a more urgent one, and before an earlier one`() throws {
    let urgent: [Event] = [.priorityBegins(2, level: 4), .priorityEnded(2)]
    let held = Self.suspended + urgent + Self.added(0, 0) + Self.added(1, 0) + Self.added(2, 0)
    let resumed: [Event] = [.resumeBegins(queue: 0)]
    #expect(try Self.violations(held + resumed + [Self.begins(0, 0)]) == ["order"])
    #expect(try Self.violations(held + resumed + [Self.begins(2, 0), Self.ends(2), Self.begins(1, 0)]) == ["order"])
    let inOrder = [Self.begins(2, 0), Self.ends(2), Self.begins(0, 0), Self.ends(0), Self.begins(1, 0)]
    #expect(try Self.violations(held + resumed + inOrder).isEmpty)
  }

  @Test func `a batch out of order`() throws {
    let urgent: [Event] = [.priorityBegins(2, level: 4), .priorityEnded(2)]
    let batch: [Event] = [.addBegins([0, 2], queue: 0, isBarrier: false), Self.begins(0, 0)]
    #expect(try Self.violations(urgent + batch) == ["order"])
  }

  @Test func `completion blocks`() throws {
    let early = Self.added(0, 1) + [Self.begins(0, 1), .completed(0, inOrder: true, current: -1)]
    #expect(try Self.violations(early) == ["completion"])
    let done = Self.added(0, 1) + [Self.begins(0, 1), Self.ends(0)]
    let once: [Event] = [.completed(0, inOrder: true, current: -1)]
    #expect(try Self.violations(done + once).isEmpty)
    #expect(try Self.violations(done + once + once) == ["completion"])
    #expect(try Self.violations(done + [.completed(0, inOrder: false, current: -1)]) == ["completion"])
    #expect(try Self.violations(done + [.completed(0, inOrder: true, current: 1)]) == ["current"])
  }

  @Test func `waits that return too early`() throws {
    #expect(try Self.violations(Self.added(0, 1) + [.waited(0, isFinished: true)]) == ["wait"])
    #expect(try Self.violations(Self.added(0, 1) + [Self.begins(0, 1), .waitEnded(1, on: 0)]) == ["wait"])
    // A task's wait ends early only when the task was cancelled.
    let waits = Self.added(0, 1) + [Self.begins(0, 1), .waitBegins(1, on: 0)]
    #expect(try Self.violations(waits + [.waitLeft(1, on: 0)]) == ["wait"])
    #expect(try Self.violations(waits + [.cancelBegins(1), .waitLeft(1, on: 0)]) == [])
  }

  @Test func `what must still happen, and what is to be seen then`() throws {
    var model = Model(try Program(text: Self.program), features: .all, isOrdered: true)
    for event in Self.added(0, 0) + Self.added(1, 0) { model.take(event) }
    #expect(model.pendingMoves == ["0 must start", "1 must start"])
    model.take(Self.begins(0, 0))
    #expect(model.pendingMoves == ["the body of 0 must go on"])
    model.take(Self.ends(0))
    model.take(.suspendEnded(queue: 0, seenStarted: []))
    #expect(model.pendingMoves.isEmpty)
    #expect(model.facts(of: 0).isFinished && !model.facts(of: 1).isFinished)
    #expect(model.listed(in: 0).operations == [1])
  }
  // MARK: - While a call is under way

  @Test func `a cancellation that is under way may still take effect`() throws {
    var model = try Self.model(after: Self.added(5, 0) + [.cancelBegins(5)])
    model.learn(5, isFinished: false, isExecuting: false, isCancelled: false)
    for event in [.cancelEnded(5, seenStarted: false), .startSkipped(5)] as [Event] { model.take(event) }
    #expect(model.violations.isEmpty)
  }

  @Test func `cancelled when it had finished, and again with a queue to which it is still being added`() throws {
    let model = try Self.model(after: [
      .addBegins([5], queue: 0, isBarrier: false), Self.begins(5, 0), .finishBegins(5), .finishEnded(5),
      .cancelBegins(5), .cancelEnded(5, seenStarted: true), .cancelAllBegins(queue: 0),
      .cancelAllEnded(queue: 0, seenStarted: [5]),
    ])
    #expect(model.facts(of: 5).isCancelled == nil)
  }

  @Test func `one of a barrier and of what is added beside it must start`() throws {
    let beside: [Event] = [
      .addBegins([3], queue: 1, isBarrier: true), .addBegins([0], queue: 1, isBarrier: false),
      .addEnded([0], queue: 1), .addEnded([3], queue: 1),
    ]
    #expect(try Self.model(after: beside).pendingMoves == ["one of [0, 3] must start, or be moved out of the way"])
    let started = beside + [Self.begins(0, 1)]
    #expect(try Self.model(after: started).pendingMoves == ["the body of 0 must go on"])
    #expect(try Self.model(after: started + [Self.ends(0)]).pendingMoves == ["3 must start"])
    let held: [Event] = [.dependBegins(0, on: 1), .dependEnded(0, on: 1, seenStarted: false)]
    #expect(try Self.model(after: held + beside).pendingMoves.isEmpty, "the earlier one may be the one that waits")
  }

  @Test func `a wait whose thread runs another body goes on when that body has ended`() throws {
    let lent: Event = .bodyBegins(1, block: 0, current: 1, inside: 0)
    let waiting =
      Self.added(0, 1) + Self.added(2, 1) + Self.added(1, 1) + [Self.begins(0, 1), .waitBegins(0, on: 2), lent]
    let finished = waiting + [Self.begins(2, 1), Self.ends(2), .passBegins(1, gate: 0)]
    #expect(try Self.model(after: finished).pendingMoves.isEmpty)
    let ended: [Event] = [.passEnded(1, gate: 0), .bodyEnds(1, block: 0, inside: 0)]
    #expect(
      try Self.model(after: finished + ended).pendingMoves == ["0, which waits for 2, must go on"])
  }

  @Test func `what is being given a dependency is not ready for certain`() throws {
    let urgent: [Event] = [2, 6].flatMap { [.priorityBegins($0, level: 4), .priorityEnded($0)] }
    let finished = Self.added(1, 0) + [Self.begins(1, 0), Self.ends(1), .settled(isQuiet: true)]
    let held = urgent + Self.added(2, 0) + Self.added(6, 0) + Self.added(0, 0)
    let resumed: [Event] = [.resumeBegins(queue: 0), .resumeEnded(queue: 0)]
    let running = finished + Self.suspended + held + resumed + [Self.begins(2, 0)]
    let next = [Self.ends(2), Self.begins(0, 0)]
    #expect(try Self.violations(running + [.dependBegins(6, on: 1)] + next).isEmpty)
    let depends: [Event] = [.dependBegins(6, on: 1), .dependEnded(6, on: 1, seenStarted: false)]
    #expect(try Self.violations(running + depends + next) == ["order"])
  }

  @Test func `what is in a queue that is being suspended is not ready for certain`() throws {
    let program = "backend 1\nqueue 0 -1\nqueue 0 -1\nop main\nop main\nop main"
    let urgent: [Event] = [.priorityBegins(1, level: 4), .priorityEnded(1)]
    let running = urgent + Self.added(2, 0) + [Self.begins(2, 0)] + Self.added(0, 0) + Self.added(1, 1)
    let next = [Self.ends(2), Self.begins(0, 0)]
    #expect(try Self.violations(running + next, of: program) == ["worker-order"])
    #expect(try Self.violations(running + [.suspendBegins(queue: 1)] + next, of: program).isEmpty)
  }

  @Test func `a worker that has taken the right to start something keeps it below a lower limit`() throws {
    let program = "backend 1\nqueue 0 -1\nqueue 0 2\nop main\nop main"
    let urgent: [Event] = [.priorityBegins(0, level: 4), .priorityEnded(0)]
    let lower: [Event] = [.limitBegins(queue: 1, 1), .limitEnded(queue: 1, 1, seenStarted: [])]
    let added = urgent + Self.added(1, 1) + Self.added(0, 0)
    #expect(try Self.violations(added + lower + [Self.begins(1, 1)], of: program).isEmpty)
    let another = Self.added(1, 1) + urgent + Self.added(0, 0) + Self.added(2, 1)
    #expect(try Self.violations(another + [Self.begins(2, 1)], of: program + "\nop main").isEmpty)
    // In a queue that gives no tickets, each operation is the worker's to take by itself.
    let unlimited = program.replacing("queue 0 2", with: "queue 0 -1") + "\nop main"
    #expect(try Self.violations(another + [Self.begins(2, 1)], of: unlimited) == ["worker-order"])
    // Added behind the more urgent one, nothing was there for the worker to take.
    let behind = urgent + Self.added(0, 0) + Self.added(1, 1)
    #expect(try Self.violations(behind + [Self.begins(1, 1)], of: program) == ["worker-order"])
  }

  @Test func `names that the bodies of a tree of joins see`() throws {
    let seed = 731_847
    let tree = ForkTree(programSeed: seed)
    let names = tree.names(around: Program.nameAround(seed))
    let right = Set(names.map { ForkTree.Sight(node: $0.key, name: $0.value) })
    #expect(right.count > 10 && Set(names.values).count > 3)
    func joined(around: UInt64 = 0, _ sights: Set<ForkTree.Sight>) -> [Event] {
      Self.added(0, 1) + [Self.begins(0, 1)]
        + [
          .joined(0, seed: seed, tree.sequentially(), currents: [1], around: around, sights: sights), Self.ends(0),
        ]
    }
    #expect(try Self.violations(joined(right)).isEmpty)
    #expect(try Self.violations(joined(around: 7, right)) == ["value"])
    let node = try #require(right.first { $0.name != 0 }).node
    #expect(try Self.violations(joined([ForkTree.Sight(node: node, name: 0)])) == ["value"])
    #expect(try Self.violations(joined([ForkTree.Sight(node: 1, name: 0)])) == ["value"])
  }

  @Test func `what a graph in a body shows`() throws {
    let seed = 8
    let right = ProgramGraph(seed: seed).expected(current: 1)
    #expect(right.runs.count > 3 && right.runs.contains(1))
    func ran(_ change: (inout ProgramGraph.Outcome) -> Void) throws -> [String] {
      var outcome = right
      change(&outcome)
      return try Self.violations(
        Self.added(0, 1) + [Self.begins(0, 1), .graphRan(0, seed: seed, outcome), Self.ends(0)])
    }
    #expect(try ran { _ in }.isEmpty)
    #expect(try ran { $0.runs[0] = 2 } == ["graph"])
    #expect(try ran { $0.wrong = [1] } == ["graph"])
    #expect(try ran { $0.error = .init(number: 3) } == ["graph"])
    #expect(try ran { $0.currents = [0] } == ["graph"])
    #expect(try ran { $0.names.insert(7) } == ["graph"])
  }

  /// A thread outside that forks on a backend with one worker takes the worker's place: no thread takes a fork.
  @Test func `a tree of joins without thieves`() throws {
    try TestBackend.stealing.withBackend(workers: 1) { backend in
      for seed in 1...300 {
        let (tree, around) = (ForkTree(programSeed: seed), Program.nameAround(seed))
        let sights = EventLog<ForkTree.Sight>()
        backend.run {
          join(
            {
              _ = ForkTree.$name.withValue(around) {
                TreeResult { () throws(ForkTree.Failure) in try tree.joined(seesName: { sights.append($0) }) { _ in } }
              }
            }, {})
        }
        let expected = tree.names(around: around)
        let isRight = sights.events.allSatisfy { expected[$0.node] == $0.name }
        #expect(isRight && !sights.events.isEmpty, "seed \(seed)")
      }
    }
  }
}
