import CPlatform
import Primitives
import Synchronization

// The list of dependencies, and the edges that make it count. Everything here is iterative: a chain may be a million long.

/// The only dependency of an operation in one word: an owned reference, bit 0 set when its edge is linked.
private struct SoleDependency {
  let word: UInt
  var isLinked: Bool { word & 1 == 1 }
  var isNone: Bool { word == 0 }
  var operation: Operation { Operation.retained(word & ~1) }
  var unmanaged: Unmanaged<Operation> { Operation.unmanaged(word & ~1) }
  func isFor(_ operation: Operation) -> Bool { word & ~1 == operation.word }
}

extension Operation {
  /// Under `lock`.
  private final var sole: SoleDependency {
    get { SoleDependency(word: soleDependency.load(ordering: .relaxed)) }
    set { soleDependency.store(newValue.word, ordering: .relaxed) }
  }

  // MARK: - Changing

  final func insertDependency(_ dependency: Operation) {
    if dependency === self { misuse(self, "an operation cannot depend on itself") }
    // A subclass's property may take the subclass's locks: asked before ours is held.
    let finished = dependency.saysFinished
    var result: PushResult?
    let changed = lock.withLock {
      guard !contains(dependency) else { return false }
      // Before the look at `listed`: enqueueing, which looks the other way round, sees one or the other. A finish that comes
      // later lets the dependency go again.
      if raise(StateWord.hasEpilogue).has(StateWord.finished) { return false }
      if extrasIfAny?.removed.contains(dependency.word) == true, countOneMore() {
        // Removed before, with its edge still linked: that edge counts again.
        extras.removed.remove(dependency.word)
        Unmanaged.passUnretained(self).release()
        append(dependency, isLinked: true)
      } else if stateNow.has(StateWord.listed), !finished, countOneMore() {
        // From `listed` on, whoever adds a dependency links it; before, enqueueing does. The edge inside the operation
        // may be in use, so this one has memory of its own.
        let edge = UnsafeMutablePointer<Edge>.allocate(capacity: 1)
        edge.initialize(to: Edge(next: 0, dependent: word))
        extras.edgeBuffers.append(edge)
        result = dependency.push(edge: EdgeWord.pointing(to: edge))
        append(dependency, isLinked: result != .finished)
        if cplatform_is_tracing() { TraceProbe.dependencyAdded(to: self, dependency) }
      } else {
        append(dependency, isLinked: false)
      }
      return true
    }
    guard changed else { return }
    switch result {
    case .none, .linked: break
    case .mustRelease: dependency.releaseDependents()
    case .finished: releaseOwnCount()
    }
    if stateNow.has(StateWord.observed) {
      notify(.dependencies)
      if isReadinessObserved {
        watchForReadiness(dependency)
        if !finished, !stateNow.has(StateWord.started) { notify(.isReady) }
      }
    }
  }

  final func deleteDependency(_ dependency: Operation) {
    var removed = false
    let counted = lock.withLock {
      guard let wasLinked = removeFromList(dependency) else { return false }
      removed = true
      if cplatform_is_tracing() { TraceProbe.dependencyRemoved(from: self, dependency) }
      guard wasLinked, !stateNow.has(StateWord.started) else { return false }
      // First the flag, then the look at the dependency: one that finishes now either sees the flag and asks, under
      // this lock, whether it still counts; or had finished before, and its edge fires by itself.
      raise(StateWord.edgesRemoved)
      guard !StateWord(bits: dependency.state.load(ordering: .sequentiallyConsistent)).has(StateWord.finished) else {
        return false
      }
      extras.removed.insert(dependency.word)
      _ = Unmanaged.passRetained(self)
      return true
    }
    if counted { releaseOwnCount() }
    if removed, stateNow.has(StateWord.observed) {
      notify(.dependencies)
      if !stateNow.has(StateWord.listed), isReadinessObserved, isReady { notify(.isReady) }
    }
  }

  final func dependencySnapshot() -> [Operation] {
    lock.withLock {
      if !sole.isNone { return [sole.operation] }
      return extrasIfAny?.dependencies.operations ?? []
    }
  }

  /// For a wait that looks for something to run.
  final func firstUnfinishedDependency() -> Operation? {
    lock.withLock {
      if !sole.isNone { return sole.operation.hasDeparted ? nil : sole.operation }
      return extrasIfAny?.dependencies.first(where: { !$0.hasDeparted })
    }
  }

  /// Ready in the sense of the base class.
  final var readyNow: Bool {
    let now = stateNow
    if now.has(StateWord.listed) || now.has(StateWord.cancelled) { return now.isReady }
    return dependencySnapshot().allSatisfy { $0.isFinished }
  }

  // MARK: - The list, under `lock`

  private final func contains(_ dependency: Operation) -> Bool {
    if !sole.isNone { return sole.isFor(dependency) }
    return extrasIfAny?.dependencies.position(of: dependency) != nil
  }

  private final func append(_ dependency: Operation, isLinked: Bool) {
    if sole.isNone, extrasIfAny.map({ $0.dependencies.count == 0 }) ?? true {
      _ = Unmanaged.passRetained(dependency)
      sole = SoleDependency(word: dependency.word | (isLinked ? 1 : 0))
      return
    }
    let extras = extras
    let first = sole
    if !first.isNone {
      sole = SoleDependency(word: 0)
      extras.dependencies.append(first.unmanaged.takeRetainedValue(), isLinked: first.isLinked)
    }
    extras.dependencies.append(dependency, isLinked: isLinked)
  }

  /// - Returns: whether its edge was linked; nil when it is not in the list.
  private final func removeFromList(_ dependency: Operation) -> Bool? {
    let first = sole
    if !first.isNone {
      guard first.isFor(dependency) else { return nil }
      sole = SoleDependency(word: 0)
      // The caller holds the dependency: this is not its last reference.
      first.unmanaged.release()
      return first.isLinked
    }
    guard let extras = extrasIfAny, let position = extras.dependencies.position(of: dependency) else { return nil }
    return extras.dependencies.remove(at: position)?.isLinked
  }

  /// Adds one to the count unless the operation has started.
  private final func countOneMore() -> Bool {
    var old = stateNow
    while !old.has(StateWord.started), !old.has(StateWord.finished) {
      if replaceState(old, with: StateWord(bits: old.bits &+ StateWord.oneDependency)) { return true }
      old = stateNow
    }
    return false
  }

  // MARK: - Linking

  /// One count of this operation goes away outside of any dependency's finish.
  private final func releaseOwnCount() {
    // Until the count is gone the operation cannot leave its queue; afterwards this reference keeps the queue.
    let queue = retainedQueue()
    var batch = ReadyBatch()
    release(by: nil, into: &batch)
    batch.submit()
    withExtendedLifetime(queue) {}
  }

  /// Links every dependency of an operation that has just been listed, and takes the queue's own count away.
  /// - Returns: false when that count is still there: its release takes user code that may not run in this batch.
  final func linkDependencies(into batch: inout ReadyBatch) -> Bool {
    guard stateNow.has(StateWord.hasEpilogue) else { return release(by: nil, into: &batch) }
    let finished = dependenciesThatSayFinished()
    var unseen: [Operation] = []
    var ownCountUsed = false
    lock.withLock {
      let first = sole
      if !first.isNone {
        guard !first.isLinked, !finished.contains(first.word) else { return }
        // The queue's own count becomes the edge's: no further change of the state.
        let result = first.unmanaged._withUnsafeGuaranteedRef { $0.push(edge: EdgeWord.inside(self)) }
        if result == .mustRelease { unseen.append(first.operation) }
        if result != .finished {
          sole = SoleDependency(word: first.word | 1)
          ownCountUsed = true
        }
      } else if let extras = extrasIfAny {
        linkList(of: extras, except: finished, unseen: &unseen)
      }
    }
    for dependency in unseen { dependency.releaseDependents() }
    return ownCountUsed || release(by: nil, into: &batch)
  }

  /// Under `lock`.
  private final func linkList(of extras: OperationExtras, except finished: Set<UInt>, unseen: inout [Operation]) {
    let count = extras.dependencies.unlinkedCount
    guard count > 0 else { return }
    _ = state.wrappingAdd(UInt64(count) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
    let buffer = UnsafeMutablePointer<Edge>.allocate(capacity: count)
    extras.edgeBuffers.append(buffer)
    var used = 0
    var satisfied = 0
    extras.dependencies.linkAll { dependency in
      let edge = buffer + used
      edge.initialize(to: Edge(next: 0, dependent: word))
      used += 1
      let result = finished.contains(dependency.word) ? .finished : dependency.push(edge: EdgeWord.pointing(to: edge))
      if result == .mustRelease { unseen.append(dependency) }
      if result == .finished { satisfied += 1 }
      return result != .finished
    }
    // The queue's own count is still there: this does not reach zero.
    if satisfied > 0 {
      _ = state.wrappingSubtract(UInt64(satisfied) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
    }
  }

  /// Dependencies whose class says that they have finished although the queue has not been told.
  private final func dependenciesThatSayFinished() -> Set<UInt> {
    var found: Set<UInt> = []
    let (isOnly, asked) = lock.withLock { () -> (Bool, Operation?) in
      // The word tells for nearly every dependency; only the others are asked, and that without the lock.
      guard !sole.isNone else { return (false, nil) }
      return (true, sole.unmanaged._withUnsafeGuaranteedRef { $0.mayOnlySayFinished } ? sole.operation : nil)
    }
    if isOnly {
      if let asked, asked.isFinished { found.insert(asked.word) }
      return found
    }
    for dependency in dependencySnapshot() where dependency.saysFinished { found.insert(dependency.word) }
    return found
  }

  /// Its class overrides `isFinished`, which is true before the operation has been told so. Only one that has started, or
  /// that nobody will start, is asked.
  private final var saysFinished: Bool { mayOnlySayFinished && isFinished }

  private final var mayOnlySayFinished: Bool {
    let now = stateNow
    return !now.has(StateWord.finished) && (now.has(StateWord.started) || !now.has(StateWord.enqueued))
  }

  // MARK: - Letting go

  /// After the finish and the completion block.
  final func releaseDependencies() {
    var taken: [Operation] = []
    lock.withLock { takeDependencies(into: &taken) }
    Self.releaseIteratively(&taken)
  }

  /// From `deinit`: nobody else can refer to the operation.
  final func releaseStorage() {
    var taken: [Operation] = []
    takeDependencies(into: &taken)
    if let extras = UnsafeRawPointer(bitPattern: extrasWord.exchange(0, ordering: .acquiring)) {
      Unmanaged<OperationExtras>.fromOpaque(extras).release()
    }
    Self.releaseIteratively(&taken)
  }

  private final func takeDependencies(into taken: inout [Operation]) {
    let first = sole
    if !first.isNone {
      sole = SoleDependency(word: 0)
      taken.append(first.unmanaged.takeRetainedValue())
    }
    if let extras = extrasIfAny, extras.dependencies.count > 0 {
      taken.append(contentsOf: extras.dependencies.operations)
      extras.dependencies = DependencyList()
    }
  }

  /// Releases operations without recursion: one whose last reference this is hands over its own dependencies first.
  /// Under its lock, though nobody else can take it: the look at the count does not acquire what others did before they
  /// let go, the lock does.
  private static func releaseIteratively(_ taken: inout [Operation]) {
    while var last = taken.popLast() {
      if isKnownUniquelyReferenced(&last) {
        last.lock.withLock { last.takeDependencies(into: &taken) }
      }
    }
  }
}
