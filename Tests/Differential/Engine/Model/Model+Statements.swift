// What the statements of a program change. The part of a change that allows something holds from its begin, the part
// that forbids something from its end.

extension Model {
  mutating func takeStatement(_ event: Event) {
    switch event {
    case .addBegins(let added, let queue, let isBarrier):
      for (position, index) in added.enumerated() {
        operations[index].queue = queue
        operations[index].addBegan = now
        operations[index].position = position
        operations[index].isBarrier = isBarrier
        operations[index].queueQuality = queues[queue].qualityLevel
        operations[index].queueQualityIsUnsure = queues[queue].isChangingQuality
        setLevel(of: index)
        if operations[index].levelIsUnsure { operations[index].levelSure = nil }
        if queues[queue].isCancellingAll, operations[index].cancelBegan == nil {
          // Added while everything is cancelled: it may be among that.
          operations[index].cancelBegan = now
          operations[index].cancelIsUnsure = true
        }
      }
    case .addEnded(let added, _):
      for index in added { operations[index].addEnded = now }
    case .dependBegins(let index, let other):
      operations[index].additions += 1
      guard !operations[index].dependencies.contains(where: { $0.operation == other }) else { return }
      operations[index].dependencies.append((other, false))
      operations[index].hadDependencies = true
      operations[index].forgetReadiness()
    case .dependEnded(let index, let other, let seenStarted):
      operations[index].additions -= 1
      guard let position = operations[index].dependencies.firstIndex(where: { $0.operation == other }) else { return }
      if seenStarted || mayBeDone(index) { operations[index].dependenciesUnsure = true }
      if operations[index].queue == nil, !operations[index].byHand {
        operations[index].dependencies[position].counts = true
      } else if operations[index].began != nil || operations[index].isDone {
        operations[index].dependenciesUnsure = true
      } else if !operations[index].dependencies[position].counts {
        holdBack(index, seenStarted: seenStarted)
        operations[index].dependencies[position].counts = !operations[index].mayBeClaimed
        if operations[index].mayBeClaimed { operations[index].dependenciesUnsure = true }
      }
    case .undependBegins(let index, let other):
      guard let position = operations[index].dependencies.firstIndex(where: { $0.operation == other }) else { return }
      operations[index].dependencies.remove(at: position)
      operations[index].removals += 1
      if operations[index].began != nil || operations[index].isDone { operations[index].dependenciesUnsure = true }
    case .undependEnded(let index, _): operations[index].removals = max(0, operations[index].removals - 1)
    case .cancelBegins(let index):
      operations[index].cancels += 1
      beginCancel(index)
    case .cancelEnded(let index, let seenStarted):
      operations[index].cancels -= 1
      endCancel(index, seenStarted: seenStarted)
    case .cancelAllBegins(let queue):
      queues[queue].isCancellingAll = true
      for index in members(of: queue) {
        if operations[index].addEnded == nil, operations[index].cancelBegan == nil {
          operations[index].cancelIsUnsure = true
        }
        beginCancel(index)
      }
    case .cancelAllEnded(let queue, let seenStarted):
      queues[queue].isCancellingAll = false
      for index in members(of: queue) where !operations[index].cancelIsUnsure {
        endCancel(index, seenStarted: seenStarted.contains(index))
      }
    case .priorityBegins(let index, let level):
      operations[index].explicitLevel = level
      beginLevel(of: index)
    case .qualityBegins(let index, let level):
      operations[index].quality = level
      beginLevel(of: index)
    case .priorityEnded(let index): operations[index].levelSure = operations[index].levelIsUnsure ? nil : now
    default: takeQueueStatement(event)
    }
  }

  private mutating func takeQueueStatement(_ event: Event) {
    switch event {
    case .queueQualityBegins(let queue):
      queues[queue].isChangingQuality = true
      // Those that are being added may get either quality.
      for index in members(of: queue) where operations[index].addEnded == nil {
        operations[index].queueQualityIsUnsure = true
        if operations[index].levelIsUnsure { operations[index].levelSure = nil }
      }
    case .queueQualityEnded(let queue, let level):
      queues[queue].isChangingQuality = false
      queues[queue].qualityLevel = level
    case .limitBegins(let queue, let limit):
      queues[queue].isChanging = true
      let new = limit < 0 ? Int.max : limit
      if new > queues[queue].limit {
        if runningCount(in: queue) >= queues[queue].limit { queues[queue].openedAt = now }
        queues[queue].limit = new
      }
    case .limitEnded(let queue, let limit, let seenStarted):
      endChange(of: queue)
      forgetPlacement(in: queue)
      let new = limit < 0 ? Int.max : limit
      guard new < queues[queue].limit else { return }
      holdBackAll(in: queue, seenStarted: seenStarted)
      queues[queue].limit = new
      queues[queue].openedAt = now
    case .suspendBegins(let queue): queues[queue].isChanging = true
    case .suspendEnded(let queue, let seenStarted):
      endChange(of: queue)
      forgetPlacement(in: queue)
      holdBackAll(in: queue, seenStarted: seenStarted)
      queues[queue].isSuspended = true
    case .resumeBegins(let queue):
      queues[queue].isChanging = true
      if queues[queue].isSuspended { queues[queue].openedAt = now }
      queues[queue].isSuspended = false
    case .resumeEnded(let queue): endChange(of: queue)
    case .released(let queue): queues[queue].isReleased = true
    case .flipBegins(let index): operations[index].conditionBegan = true
    case .flipEnded(let index): if operations[index].queue == nil { operations[index].conditionSure = true }
    default: break
    }
  }

  private mutating func endChange(of queue: Int) {
    queues[queue].isChanging = false
    queues[queue].changedSure = now
  }

  // MARK: - What is held back from now on

  /// Something is about to hold it back: it may have been claimed before.
  private mutating func holdBack(_ index: Int, seenStarted: Bool) {
    guard operations[index].isPending, !operations[index].mayBeClaimed else { return }
    let obstacle = obstacle(to: index, strictly: false)
    if mayBeDone(index) { operations[index].maySkip = true }
    let mayHaveStarted = obstacle == nil || mayBeDone(index)
    switch operations[index].kind {
    // Nobody can ask a closure, and a hand-written operation says that it executes a little after it was claimed.
    case .closure, .handWritten: if mayHaveStarted { operations[index].mayBeClaimed = true }
    default:
      guard seenStarted else { return }
      if mayHaveStarted {
        operations[index].mayBeClaimed = true
      } else {
        object("start", "\(index) was seen executing or finished although \(obstacle ?? "")")
      }
    }
  }

  private mutating func holdBackAll(in queue: Int, seenStarted: [Int]) {
    queues[queue].heldBackAt = now
    for index in members(of: queue) { holdBack(index, seenStarted: seenStarted.contains(index)) }
  }

  private mutating func beginCancel(_ index: Int) {
    if operations[index].cancelBegan != nil { return }
    // One that runs may end before the call reaches it; one that posts its finish has finished when the queue has
    // looked.
    if operations[index].began != nil || operations[index].kind == .handWritten {
      operations[index].cancelIsUnsure = true
    }
    if operations[index].finishSure != nil { return }
    if operations[index].isDone { operations[index].cancelIsUnsure = true }
    operations[index].cancelBegan = now
  }

  private mutating func endCancel(_ index: Int, seenStarted: Bool) {
    guard operations[index].cancelBegan != nil, !operations[index].cancelIsSure else { return }
    operations[index].cancelIsSure = true
    if operations[index].isDone, !operations[index].wasSkipped { operations[index].cancelIsUnsure = true }
    guard operations[index].began == nil, !operations[index].isDone else { return }
    holdBack(index, seenStarted: seenStarted)
    operations[index].mustSkip = !operations[index].mayBeClaimed && !seenStarted
  }

  // MARK: - Level

  private mutating func setLevel(of index: Int) {
    let operation = operations[index]
    let quality = operation.quality == 2 ? operation.queueQuality : operation.quality
    operations[index].level = operation.explicitLevel ?? quality
  }

  private mutating func beginLevel(of index: Int) {
    let old = operations[index].level
    setLevel(of: index)
    operations[index].levelSure = nil
    guard operations[index].level != old else { return }
    if operations[index].placeMin != nil { operations[index].placeMin = now }
    guard operations[index].readyMin != nil else { return }
    // To the tail of the new level.
    operations[index].readyMin = now
    operations[index].placeMin = now
    operations[index].placementUnknown = false
    operations[index].forgetReadiness()
  }

  /// A queue that decided nothing before decides about the order from now on.
  private mutating func forgetPlacement(in queue: Int) {
    guard queues[queue].limit == .max, !queues[queue].isSuspended else { return }
    // One that is held back again still has its entry in the backend.
    for index in members(of: queue) where operations[index].isPending && operations[index].placeMin != nil {
      operations[index].placementUnknown = true
      operations[index].forgetReadiness()
    }
  }
}
