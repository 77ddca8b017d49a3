import TestSupport

/// Random programs: the same seed makes the same program.
///
/// Most programs are *held*: queues are suspended, or a place is taken by an asynchronous operation, while the rest is
/// built; then it is let go, and the outcome is nearly determined. The others are *racy*: they hardly ever come to
/// rest, and the model follows what happened.
public struct ProgramGenerator {
  private var random: SeededGenerator
  let features: Features
  let mayStarve: Bool
  var program = Program()
  private var passes = 0
  private var usesBarriers = false

  /// - Parameter mayStarve: the backend adds threads while bodies block silently.
  public static func program(seed: UInt64, features: Features, mayStarve: Bool) -> Program {
    var generator = ProgramGenerator(
      random: SeededGenerator(seed: seed), features: features, mayStarve: mayStarve)
    generator.generate()
    return generator.program
  }

  private init(random: SeededGenerator, features: Features, mayStarve: Bool) {
    self.random = random
    self.features = features
    self.mayStarve = mayStarve
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func anyOperation() -> Int { pick(0...(program.operations.count - 1)) }
  mutating func anyQueue() -> Int { pick(0...(program.queues.count - 1)) }

  private mutating func generate() {
    let isHeld = chance(75)
    makePlaces(isHeld: isHeld)
    // How often anything else than the plainest kind and the plainest body is drawn.
    let variety = [10, 40, 70][pick(0...2)]
    let count = pick(2...10)
    let isCalm = chance(40)
    for index in 0..<count {
      program.operations.append(makeOperation(index, of: count, variety: variety, isCalm: isCalm))
    }
    usesBarriers = chance(25)
    makeStatements(isHeld: isHeld, isCalm: isCalm)
  }

  private mutating func makePlaces(isHeld: Bool) {
    let first = pick(1...2)
    program.backends = [.init(workers: first)]
    if chance(20) { program.backends.append(.init(workers: 3 - first)) }
    for _ in 0..<[1, 1, 2, 3][pick(0...3)] {
      let limit = [-1, -1, -1, 1, 1, 1, 2, 0, 3][pick(0...8)]
      program.queues.append(
        .init(
          backend: pick(0...(program.backends.count - 1)), limit: limit, isSuspended: isHeld ? chance(60) : chance(10)))
    }
  }

  // MARK: - Operations

  private mutating func makeOperation(_ index: Int, of count: Int, variety: Int, isCalm: Bool) -> Program.OperationSpec
  {
    var kind = OperationKind.main
    if chance(variety) {
      kind = [.blocks(1), .blocks(isCalm ? 1 : 2), .closure, .asynchronous, .handWritten, .conditional][pick(0...5)]
      if features.contains(.tasks), !isCalm, chance(20) { kind = .task }
    }
    var actions: [BodyAction] = []
    while chance(variety / 2), actions.count < 3 {
      if let action = makeAction(index, of: count, isCalm: isCalm) { actions.append(action) }
    }
    if kind.endsLater, chance(40) { actions.append(.finishByHelper) }
    return .init(kind: kind, actions: actions)
  }

  private mutating func makeAction(_ index: Int, of count: Int, isCalm: Bool) -> BodyAction? {
    let other = pick(0...(count - 1))
    switch pick(0...11) {
    case 0, 1: return isCalm || index + 1 >= count ? nil : .wait(pick((index + 1)...(count - 1)))
    case 2, 3: return .add(other, queue: anyQueue())
    case 4: return .cancel(other)
    case 5, 6: return .finish(other)
    case 7: return .flip(other)
    case 8: return .open(gate: pick(0...2))
    case 9:
      guard !isCalm else { return nil }
      return chance(70) ? .join(seed: pick(0...999_999)) : .graph(seed: pick(0...999_999))
    case 10: return .raise(level: pick(0...4))
    default:
      guard !isCalm else { return nil }
      let mostPasses = features.contains(.silentBlocks) && mayStarve && chance(5) ? 3 : 1
      guard passes < mostPasses, mostPasses > 1 || program.backends.allSatisfy({ $0.workers > 1 }) else { return nil }
      passes += 1
      return .pass(gate: pick(0...2))
    }
  }

  // MARK: - Statements

  private mutating func makeStatements(isHeld: Bool, isCalm: Bool) {
    let settling = isHeld ? 30 : 6
    var left = pick(3...26)
    // First most operations come into queues, with what concerns them before.
    for index in program.operations.indices where chance(85) {
      prepare(index, isCalm: isCalm)
      add(index)
      if chance(settling / 2) { program.statements.append(.settle) }
    }
    makePatterns(isCalm: isCalm)
    while left > 0 {
      left -= 1
      if let statement = makeStatement(isCalm: isCalm) { program.statements.append(statement) }
      if chance(settling) { program.statements.append(.settle) }
    }
    if isHeld {
      program.statements.append(.settle)
      for queue in program.queues.indices.shuffled(using: &random) where chance(80) {
        program.statements.append(
          chance(70) ? .resume(queue: queue) : .limit(queue: queue, [1, 1, 2, -1][pick(0...3)]))
        if chance(50) { program.statements.append(.settle) }
      }
    }
  }

  private mutating func prepare(_ index: Int, isCalm: Bool) {
    while chance(35) {
      let other = anyOperation()
      let statement: Statement? =
        switch pick(0...8) {
        case 0, 1, 2: other == index ? nil : .depend(max(index, other), on: min(index, other))
        case 3, 4: .priority(index, level: pick(0...4))
        case 5: .quality(index, level: pick(0...4))
        case 6: .completion(index)
        case 7: .observe(index, ObservedKey.allCases[pick(0...3)])
        default:
          features.contains(.observerWaits) && !isCalm && chance(30) ? .observeReadyAndWait(index, on: other) : nil
        }
      if let statement { program.statements.append(statement) }
    }
  }

  private mutating func add(_ index: Int) {
    if program.operations[index].kind == .closure, usesBarriers, chance(50) {
      return program.statements.append(.barrier(index, queue: anyQueue()))
    }
    if chance(20) {
      let others = program.operations.indices.filter { $0 >= index }.shuffled(using: &random).prefix(pick(1...5))
      return program.statements.append(.batch(Array(others), queue: anyQueue(), wait: chance(20)))
    }
    program.statements.append(.add(index, queue: anyQueue()))
  }

  private mutating func makeStatement(isCalm: Bool) -> Statement? {
    let index = anyOperation()
    let other = anyOperation()
    let queue = anyQueue()
    switch pick(0...49) {
    case 0..<5: return .add(index, queue: queue)
    case 5..<9: return index == other ? nil : .depend(index, on: other)
    case 9..<11: return .undepend(index, on: other)
    case 11..<14: return .cancel(index)
    case 14: return .cancelAll(queue: queue)
    case 15..<19: return .priority(index, level: pick(0...4))
    case 19: return .quality(index, level: pick(0...4))
    case 20: return .queueQuality(queue: queue, level: pick(0...4))
    case 21..<25: return .limit(queue: queue, [-1, 0, 1, 1, 1, 2, 3][pick(0...6)])
    case 25..<28: return .suspend(queue: queue)
    case 28..<32: return .resume(queue: queue)
    case 32: return .completion(index)
    case 33: return .observe(index, ObservedKey.allCases[pick(0...3)])
    case 34: return .observeQueue(queue: queue)
    case 35: return .open(gate: pick(0...2))
    case 36..<41: return .finish(index)
    case 41..<43: return .flip(index)
    case 43: return .start(index)
    case 44..<47: return .wait(index)
    case 47: return .waitQueue(queue: queue)
    case 48: return chance(40) ? .release(queue: queue) : nil
    default:
      let closure = program.operations.indices.first { program.operations[$0].kind == .closure }
      return usesBarriers ? closure.map { .barrier($0, queue: queue) } : nil
    }
  }
}
