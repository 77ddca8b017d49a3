// Who may start before whom.

extension Model {
  /// Brings the moments up to date from which pending operations are ready.
  mutating func refreshReadiness() {
    for index in operations.indices where operations[index].isPending {
      let operation = operations[index]
      let isReady =
        operation.dependencies.allSatisfy { !$0.counts || mayBeDone($0.operation) }
        && (operation.kind != .conditional || operation.conditionBegan)
      guard isReady else {
        operations[index].readyMin = nil
        operations[index].forgetReadiness()
        continue
      }
      if operation.readyMin == nil {
        operations[index].readyMin = now
        operations[index].placeMin = operation.placeMin ?? now
        operations[index].group = group(of: operation)
      }
      // It may be held back by a dependency that was added late, or that is on its way out as cancelled.
      if operation.dependencies.contains(where: { !operations[$0.operation].isDone }) {
        operations[index].forgetReadiness()
        continue
      }
      let isStill =
        operation.addEnded != nil && operation.levelSure != nil && operation.removals == 0
        && operation.additions == 0 && !operation.placementUnknown
        && (operation.kind != .conditional || operation.conditionSure)
        && (features.contains(.askedOrder) || !operation.isAskedLater) && !operation.isReadinessObserved
      guard isStill else { continue }
      let dependencies = operation.dependencies.map { operations[$0.operation] }
      if operation.readySure == nil, dependencies.allSatisfy({ $0.finishSure != nil }) {
        operations[index].readySure = now
      }
      if operation.readyAtClaim == nil, dependencies.allSatisfy({ isDoneAtClaim($0, for: operation) }) {
        operations[index].readyAtClaim = now
      }
    }
  }

  /// What a finish releases in a queue with a limit is ready when its place is given away.
  private func isDoneAtClaim(_ dependency: ModelOperation, for operation: ModelOperation) -> Bool {
    if dependency.finishSure != nil { return true }
    guard features.contains(.releaseOrder), dependency.ended != nil, let queue = dependency.queue else { return false }
    return queue == operation.queue && queues[queue].limit != .max
  }

  private func group(of operation: ModelOperation) -> ModelOperation.Group? {
    if operation.addBegan == now {
      let isSure = operation.dependencies.allSatisfy { operations[$0.operation].finishSure != nil }
      return isSure ? .batch(now) : nil
    }
    guard operation.addEnded != nil, operation.removals == 0, operation.additions == 0 else { return nil }
    let causes = operation.dependencies.filter { operations[$0.operation].finishSure == nil }
    guard causes.count == 1, operations[causes[0].operation].ended == now else { return nil }
    return .release(now)
  }

  /// In a queue with a limit: when it started, was there a place left for everybody who had to come first?
  func orderViolation(ofStart index: Int) -> String? {
    let starter = operations[index]
    guard !program.raisesLevels, let queue = starter.queue, queues[queue].limit != .max,
      let readyMin = starter.readyMin,
      !starter.placementUnknown, !starter.isBarrier
    else { return nil }
    let bound = max(queues[queue].openedAt, readyMin)
    guard let level = starter.levelSure, level <= bound else { return nil }
    let rivals = members(of: queue).filter { other in
      let rival = operations[other]
      guard other != index, rival.isPending, rival.cancelBegan == nil, !rival.isBarrier, !rival.isReadinessObserved,
        !rival.isAskedLater, let level = rival.levelSure,
        level <= bound, obstacle(to: other, strictly: true, ignoringPlaces: true) == nil
      else { return false }
      return comesFirst(rival, starter, bound: bound)
    }
    // Of several that have been let start, each on its thread, any may begin its body first.
    guard let first = rivals.first, queues[queue].limit == 1 else { return nil }
    return
      "\(index) (level \(starter.level)) started before \(first) (level \(operations[first].level)), which was ready"
  }

  private func comesFirst(_ rival: ModelOperation, _ starter: ModelOperation, bound: Int) -> Bool {
    let isTogether: Bool
    switch rival.group {
    case .batch: isTogether = rival.group == starter.group && features.contains(.batchOrder)
    case .release: isTogether = rival.group == starter.group && features.contains(.releaseOrder)
    case nil: isTogether = false
    }
    if rival.level > starter.level {
      return isTogether
        || rival.readyAtClaim.map { $0 < bound || features.contains(.releaseOrder) && $0 == bound } ?? false
    }
    guard rival.level == starter.level else { return false }
    if isTogether, case .batch = rival.group { return rival.position < starter.position }
    return rival.readySure.map { sure in starter.placeMin.map { sure < $0 } ?? false } ?? false
  }

  /// Whether the queue's operations may have gone to the backend as tickets since then. A ticket names no operation.
  /// Whoever has taken one starts the operation of the queue that is the most urgent when the ticket is used.
  private func mayGiveTickets(_ queue: Int, since moment: Int) -> Bool {
    queues[queue].limit != .max || queues[queue].isChanging || queues[queue].changedSure > moment
      || members(of: queue).contains { operations[$0].isBarrier }
  }

  /// The earliest moment at which one of the queue's operations that have not begun may have become ready.
  private func firstReady(in queue: Int) -> Int? {
    members(of: queue).filter { operations[$0].began == nil }.compactMap { operations[$0].readyMin }.min()
  }

  /// On a backend with one worker, none of whose bodies ever blocks: nothing starts while something more urgent of any
  /// queue could have started since the last body ended.
  func workerOrderViolation(ofStart index: Int) -> String? {
    let starter = operations[index]
    guard isOrdered, features.contains(.workerOrder), let queue = starter.queue, let readyMin = starter.readyMin,
      !starter.placementUnknown, let level = starter.levelSure
    else { return nil }
    let backend = queues[queue].backend
    // A finish that another thread makes or looks at frees its place at a moment that nobody knows.
    guard program.backends[backend].workers == 1, program.isCalm, !program.operations.contains(where: \.kind.endsLater)
    else { return nil }
    // The worker may have taken a ticket of the queue before the queue was held back. The worker keeps the ticket.
    let freeSince = lastBodyEnd[backend] ?? 0
    guard queues[queue].heldBackAt <= freeSince else { return nil }
    let takenAfter = mayGiveTickets(queue, since: freeSince) ? firstReady(in: queue) ?? readyMin : readyMin
    let bound = max(queues[queue].openedAt, takenAfter, freeSince)
    guard level <= bound else { return nil }
    let rival = operations.indices.first { other in
      let rival = operations[other]
      guard other != index, rival.isPending, rival.cancelBegan == nil, rival.level > starter.level,
        let place = rival.queue, queues[place].backend == backend, let level = rival.levelSure, level <= bound,
        !rival.isAskedLater, !rival.isReadinessObserved, let ready = rival.readySure, ready < bound,
        queues[place].openedAt < bound, !queues[place].isChanging, queues[place].changedSure < bound,
        obstacle(to: other, strictly: true) == nil
      else { return false }
      return true
    }
    return rival.map {
      "\(index) (level \(starter.level)) got the only worker before \($0) (level \(operations[$0].level)), which was ready"
    }
  }
}
