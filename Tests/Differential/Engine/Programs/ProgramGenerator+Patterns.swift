// Shapes that statements drawn one by one would hardly ever make.

extension ProgramGenerator {
  mutating func makePatterns(isCalm: Bool) {
    if chance(10) { makeFan() }
    if isCalm, features.contains(.workerOrder), chance(8) { makeBacklog() }
    if !isCalm, features.contains(.observerWaits), chance(8) { makeWaitingObserver() }
    if !isCalm, chance(3) { makeWaitingCrowd() }
    if chance(6) { makeCancelledChain() }
    if !isCalm, features.contains(.silentBlocks), mayStarve, chance(1) { makeSilentCrowd() }
  }

  /// Several operations of one limited queue wait for one operation, and are released together.
  private mutating func makeFan() {
    let cause = program.operations.count
    program.operations.append(.init(kind: [.asynchronous, .handWritten, .main, .blocks(1)][pick(0...3)]))
    let queue = program.queues.count
    program.queues.append(.init(backend: pick(0...(program.backends.count - 1)), limit: chance(75) ? 1 : 2))
    let members = (0..<pick(2...5)).map { cause + 1 + $0 }
    for index in members {
      program.operations.append(.init(kind: chance(60) ? .main : .blocks(1)))
      program.statements.append(.depend(index, on: cause))
      if chance(70) { program.statements.append(.priority(index, level: pick(0...4))) }
    }
    if chance(50) {
      for index in members { program.statements.append(.add(index, queue: queue)) }
    } else {
      program.statements.append(.batch(members, queue: queue, wait: false))
    }
    if chance(70) { program.statements.append(.settle) }
    program.statements.append(.add(cause, queue: chance(50) ? queue : anyQueue()))
    if chance(70) { program.statements.append(.settle) }
    program.statements.append(.finish(cause))
    if chance(70) { program.statements.append(.settle) }
  }

  /// One worker is busy with a body that adds work and then finishes something for which more urgent work waits.
  private mutating func makeBacklog() {
    let backend = pick(0...(program.backends.count - 1))
    let queue = program.queues.count
    program.queues.append(.init(backend: backend))
    let first = program.operations.count
    let (cause, urgent, busy) = (first, first + 1, first + 2)
    let backlog = (0..<pick(1...4)).map { first + 3 + $0 }
    program.operations.append(.init(kind: chance(50) ? .handWritten : .asynchronous))
    program.operations.append(.init(kind: chance(50) ? .main : .blocks(1)))
    program.operations.append(.init(kind: .main, actions: backlog.map { .add($0, queue: queue) } + [.finish(cause)]))
    for _ in backlog { program.operations.append(.init(kind: .blocks(1))) }
    program.statements += [
      .depend(urgent, on: cause), .priority(urgent, level: pick(3...4)), .add(cause, queue: queue),
    ]
    program.statements += [
      .add(urgent, queue: chance(70) ? queue : anyQueue()), .settle, .add(busy, queue: queue), .settle,
    ]
  }

  /// An observer of a dependent adds something and waits for that, or waits for the dependency.
  private mutating func makeWaitingObserver() {
    let backend = pick(0...(program.backends.count - 1))
    let queue = program.queues.count
    program.queues.append(.init(backend: backend))
    program.queues.append(.init(backend: backend, limit: chance(50) ? 1 : -1))
    let first = program.operations.count
    let (cause, dependent, added) = (first, first + 1, first + 2)
    program.operations.append(.init(kind: [.asynchronous, .handWritten, .main][pick(0...2)]))
    program.operations.append(.init(kind: chance(50) ? .main : .blocks(1)))
    program.operations.append(.init(kind: .main))
    program.statements += [.depend(dependent, on: cause), .completion(cause)]
    program.statements.append(.observeReadyAndWait(dependent, on: chance(50) ? added : cause))
    program.statements += [
      .add(dependent, queue: queue), .add(cause, queue: queue + 1), .settle, .finish(cause), .settle,
    ]
  }

  /// Steps that depend on one another are cancelled all at once while the first one runs.
  private mutating func makeCancelledChain() {
    let queue = program.queues.count
    program.queues.append(.init(backend: pick(0...(program.backends.count - 1)), limit: [-1, -1, 2, 3][pick(0...3)]))
    let first = program.operations.count
    let last = first + pick(2...5)
    program.operations.append(.init(kind: .asynchronous))
    for index in first + 1...last {
      program.operations.append(.init(kind: chance(50) ? .main : .blocks(1)))
      program.statements.append(.depend(index, on: index - 1))
    }
    for index in first...last { program.statements.append(.add(index, queue: queue)) }
    program.statements += [.settle, .cancelAll(queue: queue)]
    if chance(50) { program.statements.append(.settle) }
    program.statements.append(.finish(first))
  }

  /// All workers wait inside of bodies when more work comes.
  private mutating func makeWaitingCrowd() {
    let queue = program.queues.count
    program.queues.append(.init(backend: pick(0...(program.backends.count - 1))))
    let first = program.operations.count
    let count = pick(1...4)
    for index in first..<first + count {
      program.operations.append(.init(kind: .main, actions: [.wait(first + count)]))
      program.statements.append(.add(index, queue: queue))
    }
    program.operations += [.init(kind: .asynchronous), .init(kind: .main)]
    program.statements += [.settle, .add(first + count, queue: queue), .settle, .add(first + count + 1, queue: queue)]
    program.statements += [.settle, .finish(first + count), .settle]
  }

  /// More bodies than workers pass one gate.
  private mutating func makeSilentCrowd() {
    let queue = program.queues.count
    program.queues.append(.init(backend: pick(0...(program.backends.count - 1))))
    for _ in 0..<pick(2...6) {
      program.statements.append(.add(program.operations.count, queue: queue))
      program.operations.append(.init(kind: .main, actions: [.pass(gate: 0)]))
    }
    program.statements += [.settle, .open(gate: 0), .settle]
  }
}
