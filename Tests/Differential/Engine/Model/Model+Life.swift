import TestSupport

// Bodies, finishes and completion blocks.

extension Model {
  mutating func takeLife(_ event: Event) {
    switch event {
    case .startBegins(let index): operations[index].byHand = true
    case .startEnded(let index):
      let operation = operations[index]
      if operation.began == nil, operation.cancelBegan != nil { operations[index].wasSkipped = true }
      if operation.began == nil, operation.cancelBegan == nil { object("start", "start() of \(index) ran no body") }
    case .bodyBegins(let index, let block, let current, let outer):
      if let outer { operations[outer].lent += 1 }
      begin(index, block: block, current: current)
    case .bodyEnds(let index, let block, let outer):
      if let outer { operations[outer].lent -= 1 }
      end(index, block: block)
    case .closureReleased(let index):
      guard operations[index].began == nil, operations[index].queue != nil else { return }
      if operations[index].cancelBegan == nil { object("start", "the closure \(index) was released without a run") }
      operations[index].wasSkipped = true
    case .startSkipped(let index):
      if operations[index].cancelBegan == nil { object("cancel", "\(index) was skipped, but nobody cancelled it") }
      operations[index].wasSkipped = true
      if let queue = operations[index].queue { placeIsFree(in: queue) }
    case .waitBegins(let index, let other): operations[index].blockedOn = .operation(other)
    case .waitEnded(let index, let other):
      operations[index].blockedOn = nil
      if !mayBeDone(other) { object("wait", "the wait of \(index) for \(other) returned before the finish") }
    case .waitLeft(let index, let other):
      operations[index].blockedOn = nil
      if operations[index].cancelBegan == nil {
        object("wait", "the wait of \(index) for \(other) was left, but nobody cancelled \(index)")
      }
    case .waited(let index, let isFinished):
      if !mayBeDone(index) || !isFinished { object("wait", "the wait for \(index) returned before the finish") }
    case .passBegins(let index, let gate): operations[index].blockedOn = .gate(gate)
    case .passEnded(let index, _): operations[index].blockedOn = nil
    case .gateOpens(let gate): openGates.insert(gate)
    case .joined(let index, let seed, let result, let currents, let around, let sights):
      judge(index, seed: seed, result, currents)
      if features.contains(.forkNames) { judgeNames(index, seed: seed, around: around, sights) }
    case .graphRan(let index, let seed, let outcome):
      let expected = ProgramGraph(seed: seed).expected(current: operations[index].queue ?? -1)
      if outcome != expected { object("graph", "the graph \(seed) in \(index) gave \(outcome), and not \(expected)") }
    case .helperAsked(let index): operations[index].helperAsked = true
    case .finishBegins(let index):
      operations[index].ended = now
      operations[index].finishing = true
      if let queue = operations[index].queue { placeIsFree(in: queue) }
    case .finishEnded(let index):
      operations[index].finishing = false
      // A hand-written one is only read after the post.
      if operations[index].kind == .asynchronous { operations[index].finishSure = now }
    case .completionSet(let index):
      operations[index].completionIsSet = true
      operations[index].completionIsOwed = isCertainlyNotOver(index)
    case .completed(let index, let inOrder, let current):
      operations[index].completions += 1
      if operations[index].completions > 1 { object("completion", "the completion block of \(index) ran twice") }
      if !mayBeDone(index) { object("completion", "the completion block of \(index) ran before its finish") }
      if !inOrder {
        object("completion", "the completion block of \(index) ran before it had finished and left its queue")
      }
      if current != -1 { object("current", "in the completion block of \(index) there was a current queue") }
    default: break
    }
  }

  /// A tree of joins gives what plain recursion does, and its forks are in the operation.
  private mutating func judge(_ index: Int, seed: Int, _ result: TreeResult, _ currents: Set<Int>) {
    let expected = ForkTree(programSeed: seed).sequentially()
    if result != expected { object("join", "the tree \(seed) in \(index) is \(result), and should be \(expected)") }
    for current in currents where current != (operations[index].queue ?? -1) {
      object("current", "in a fork of \(index) the current queue was \(current)")
    }
  }

  /// Each body of a tree sees the name that was current where its join was made. The body of an operation sees no name:
  /// nobody who adds, starts or waits for an operation has one, but for the bodies of trees.
  private mutating func judgeNames(_ index: Int, seed: Int, around: UInt64, _ sights: Set<ForkTree.Sight>) {
    if around != 0 { object("value", "the body of \(index) saw the name \(around) of another body") }
    let expected = ForkTree(programSeed: seed).names(around: Program.nameAround(seed))
    for sight in sights where expected[sight.node] != sight.name {
      let name = expected[sight.node].map { "\($0)" } ?? "none, since there is no such body"
      object(
        "value", "a fork of the tree \(seed) in \(index) saw the name \(sight.name), and should see \(name)")
      return
    }
  }

  /// It has not finished and cannot have: what is set now takes effect.
  private func isCertainlyNotOver(_ index: Int) -> Bool {
    let operation = operations[index]
    if operation.isDone { return false }
    if operation.queue == nil, !operation.byHand { return true }
    if operation.kind.endsLater, operation.began != nil, !operation.helperAsked { return true }
    return operation.began == nil && !operation.mayBeClaimed && obstacle(to: index, strictly: false) != nil
      && !mayBeDone(index)
  }

  private mutating func begin(_ index: Int, block: Int, current: Int) {
    let operation = operations[index]
    if !operations[index].startedBlocks.insert(block).inserted {
      object("once", "block \(block) of \(index) ran twice")
    }
    if operation.isDone { object("once", "\(index) ran after its finish") }
    if current != (operation.queue ?? -1) { object("current", "in \(index) the current queue was \(current)") }
    guard operation.began == nil else { return }
    if operation.mustSkip { object("cancel", "\(index) ran although it was cancelled before its start") }
    if let step = operation.dependencies.first(where: { isSkipped($0.operation, by: operation) && $0.counts }) {
      object("cancel", "\(index) ran because \(step.operation) was skipped by the same cancelAllOperations")
    }
    if !operation.mayBeClaimed {
      if let obstacle = obstacle(to: index, strictly: false) {
        object("start", "\(index) started although \(obstacle)")
      }
      if let violation = orderViolation(ofStart: index) { object("order", violation) }
      if let violation = workerOrderViolation(ofStart: index) { object("worker-order", violation) }
    }
    operations[index].began = now
    if let queue = operation.queue { confirmFinishes(before: index, in: queue) }
  }

  /// Both were cancelled by one call, and nothing else has ended the dependency: the dependent was cancelled at the
  /// same instant.
  private func isSkipped(_ dependency: Int, by dependent: ModelOperation) -> Bool {
    let other = operations[dependency]
    return other.began == nil && other.cancelBegan != nil && other.cancelBegan == dependent.cancelBegan
      && !other.cancelIsUnsure && !dependent.cancelIsUnsure
  }

  private mutating func end(_ index: Int, block: Int) {
    operations[index].endedBlocks.insert(block)
    if let queue = operations[index].queue { lastBodyEnd[queues[queue].backend] = now }
    guard operations[index].endedBlocks.count == operations[index].kind.blockCount else { return }
    operations[index].bodyReturned = true
    guard !operations[index].kind.endsLater else { return }
    operations[index].ended = now
    if let queue = operations[index].queue { placeIsFree(in: queue) }
  }

  private mutating func placeIsFree(in queue: Int) {
    if queues[queue].limit != .max, runningCount(in: queue) == queues[queue].limit - 1 { queues[queue].openedAt = now }
  }

  /// In a queue that runs one at a time, who starts has seen everybody's finish.
  private mutating func confirmFinishes(before index: Int, in queue: Int) {
    guard queues[queue].limit == 1 else { return }
    for other in members(of: queue) where operations[other].ended != nil && operations[other].finishSure == nil {
      operations[other].finishSure = now
    }
  }
}
