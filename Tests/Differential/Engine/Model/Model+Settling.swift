// When nothing more can happen.

extension Model {
  /// Operations of which the object must say whether they were cancelled, claimed or skipped.
  var unclear: [Int] {
    operations.indices.filter { index in
      let operation = operations[index]
      guard operation.isPending, operation.addEnded != nil, operation.kind != .closure else { return false }
      return operation.cancelBegan != nil || operation.mayBeClaimed
    }
  }

  /// What the object of an unclear operation says, when no statement is under way and nothing has happened since it was
  /// asked. The `cancel()` of a body may be under way.
  mutating func learn(_ index: Int, isFinished: Bool, isExecuting: Bool, isCancelled: Bool) {
    if operations[index].cancelIsUnsure, isCancelled || operations[index].cancels == 0 {
      operations[index].cancelIsUnsure = false
      operations[index].cancelIsSure = isCancelled
      if !isCancelled { operations[index].cancelBegan = nil }
    }
    // A hand-written one says by itself when it is skipped, and executes a little after it was claimed.
    if operations[index].kind == .handWritten { return }
    if isFinished, operations[index].cancelBegan != nil { operations[index].wasSkipped = true }
    if !isFinished, !isExecuting { operations[index].mayBeClaimed = false }
  }

  /// What must still happen by itself.
  var pendingMoves: [String] {
    operations.indices.compactMap(pendingMove) + tiedMoves + observations.pendingMoves(of: self)
  }

  /// A barrier and what was added at the same time wait for each other as far as the model knows. One of them was the
  /// earlier one: where nothing else holds them back, that one must start.
  private var tiedMoves: [String] {
    guard operations.contains(where: { $0.isBarrier && $0.isPending }) else { return [] }
    var seen: Set<Int> = []
    return operations.indices.compactMap { index in
      guard operations[index].isBarrier, operations[index].isPending, !seen.contains(index) else { return nil }
      let tied = tied(with: index)
      seen.formUnion(tied)
      guard tied.count > 1,
        tied.allSatisfy({ operations[$0].isPending && obstacle(to: $0, strictly: true, ignoringTies: true) == nil })
      else { return nil }
      return "one of \(tied) must start, or be moved out of the way"
    }
  }

  /// The operation, the operations that may or may not come before it, the operations that may or may not come before
  /// those; sorted.
  private func tied(with index: Int) -> [Int] {
    guard let queue = operations[index].queue else { return [] }
    var tied: Set<Int> = [index]
    var open = [index]
    while let next = open.popLast() {
      for other in members(of: queue) where other != next && !operations[other].isDone {
        let isTie =
          (operations[other].isBarrier || operations[next].isBarrier) && !isEarlier(other, than: next)
          && !isEarlier(next, than: other)
        if isTie, tied.insert(other).inserted { open.append(other) }
      }
    }
    return tied.sorted()
  }

  private func pendingMove(of index: Int) -> String? {
    let operation = operations[index]
    if operation.isPending {
      guard obstacle(to: index, strictly: true) == nil else { return nil }
      return operation.cancelBegan == nil
        ? "\(index) must start" : "\(index) must be moved out of the way, being cancelled"
    }
    if operation.finishing { return "the finish of \(index) must return" }
    if operation.began != nil, !operation.bodyReturned {
      if operation.endedBlocks.union([0]).count < operation.kind.blockCount {
        return "further blocks of \(index) must run"
      }
      switch operation.blockedOn {
      case .operation(let other):

        let goesOn =
          operations[other].isDone && operation.lent == 0
          && (features.contains(.promptWaits) || !hasBodyPastFinish(other))
        return goesOn ? "\(index), which waits for \(other), must go on" : nil
      case .gate(let gate): return openGates.contains(gate) ? "\(index) must pass gate \(gate)" : nil
      case nil: return "the body of \(index) must go on"
      }
    }
    if operation.isRunning, operation.helperAsked { return "a helper must finish \(index)" }
    // One that finishes inside of its own body completes when that has returned.
    let hasReturned = operation.began == nil || operation.bodyReturned
    if operation.isDone, hasReturned, operation.completionIsOwed, operation.completions == 0 {
      return "the completion block of \(index) must run"
    }
    return nil
  }

  /// It, or something that it depends on, was finished by somebody before its body returned: a thread that waits may
  /// have lent itself to that body.
  private func hasBodyPastFinish(_ index: Int) -> Bool {
    var seen: Set<Int> = [index]
    var open = [index]
    while let next = open.popLast() {
      let operation = operations[next]
      if operation.isDone, operation.began != nil, !operation.bodyReturned { return true }
      for dependency in operation.dependencies where seen.insert(dependency.operation).inserted {
        open.append(dependency.operation)
      }
    }
    return false
  }

  /// The state has been compared, and no thread is between operations: nothing is in flight.
  mutating func settle() {
    for index in operations.indices where operations[index].isDone && operations[index].finishSure == nil {
      // A hand-written one says that it has finished before the library has read that; only its queue's list tells.
      let isListed = operations[index].queue.map { !queues[$0].isReleased } ?? false
      if operations[index].kind == .handWritten, !isListed { continue }
      operations[index].finishSure = now
    }
  }

  // MARK: - What is to be seen then

  struct Facts: Equatable {
    var isFinished: Bool
    var isExecuting: Bool
    /// Nil: not compared.
    var isCancelled: Bool?
    /// Nil: not compared.
    var isReady: Bool?
    var dependencies: [Int]?
  }

  func facts(of index: Int) -> Facts {
    let operation = operations[index]
    var facts = Facts(
      isFinished: operation.isDone, isExecuting: operation.isRunning,
      isCancelled: operation.cancelIsUnsure ? nil : operation.cancelBegan != nil)
    if !operation.isDone, operation.began == nil {
      let isFree = operation.dependencies.allSatisfy { operations[$0.operation].isDone }
      let base = isFree || operation.cancelBegan != nil
      facts.isReady = base && (operation.kind != .conditional || operation.conditionBegan)
    }
    let isInBody = operation.isDone && operation.began != nil && !operation.bodyReturned
    if !operation.dependenciesUnsure, !isInBody {
      facts.dependencies = operation.isDone ? [] : operation.dependencies.map(\.operation)
    }
    return facts
  }

  /// The unfinished operations of a queue in the order of adding; sorted by number when that order is not known.
  func listed(in queue: Int) -> (operations: [Int], isOrdered: Bool) {
    let pending = members(of: queue).filter { !operations[$0].isDone }
      .sorted {
        (operations[$0].addBegan, operations[$0].position) < (operations[$1].addBegan, operations[$1].position)
      }
    let isOrdered = zip(pending, pending.dropFirst()).allSatisfy { first, second in
      operations[first].addBegan == operations[second].addBegan || isEarlier(first, than: second)
    }
    return (pending, isOrdered)
  }
}
