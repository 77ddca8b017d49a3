import CPlatform
import Primitives
import Synchronization

// The list of dependencies, and the edges that make it count. Everything here is iterative: a chain may be a million long.

/// What `Operation.dependencyWord` says: nothing, the only dependency (an owned reference, bit 0 set when its edge is
/// linked), or a list (bit 1 set).
private struct DependencyWord {
  let bits: UInt

  static let none = DependencyWord(bits: 0)
  static func only(_ operation: UInt, isLinked: Bool) -> DependencyWord {
    DependencyWord(bits: operation | (isLinked ? 1 : 0))
  }
  static func list(_ list: DependencyList) -> DependencyWord { DependencyWord(bits: list.word | 2) }

  var isNone: Bool { bits == 0 }
  var isLinked: Bool { bits & 1 != 0 }
  /// The only dependency, or 0.
  @inline(__always) var only: UInt { bits & 2 == 0 ? bits & ~1 : 0 }
  @inline(__always) var list: DependencyList? { bits & 2 == 0 ? nil : DependencyList(word: bits & ~2) }
}

extension Operation {
  /// Under `lock`.
  @inline(__always)
  private final var dependencyState: DependencyWord {
    get { DependencyWord(bits: dependencyWord.load(ordering: .relaxed)) }
    set { dependencyWord.store(newValue.bits, ordering: .relaxed) }
  }

  // MARK: - Changing

  final func insertDependency(_ dependency: Operation) {
    if dependency === self { misuse(self, "an operation cannot depend on itself") }
    // A subclass's property may take the subclass's locks: asked before ours is held.
    let finished = dependency.mayOnlySayFinished && dependency.isFinished
    var result: PushResult?
    let changed = lock.withLock {
      guard !contains(dependency) else { return false }
      let now = stateNow
      // Before the look at `listed`: enqueueing, which looks the other way round, sees one or the other. A finish that comes
      // later lets the dependency go again. Who set the flag before held this lock.
      let before = now.has(StateWord.hasEpilogue) ? now : raise(StateWord.hasEpilogue)
      if before.has(StateWord.finished) { return false }
      if before.has(StateWord.edgesRemoved), countAgain(dependency) {
        append(dependency, flags: 0)
      } else if stateNow.has(StateWord.listed), !finished, countOneMore() {
        // From `listed` on, whoever adds a dependency links it; before, enqueueing does.
        let list = listOfDependencies()
        let edge = append(dependency, to: list, flags: DependencyRecord.linked)
        result = dependency.push(edge: edge)
        if result == .finished { list.change(edge, to: dependency.word) }
        if cplatform_is_tracing() { TraceProbe.dependencyAdded(to: self, dependency) }
      } else {
        append(dependency, flags: 0)
      }
      return true
    }
    guard changed else { return }
    if result == .finished { releaseOwnCount() }
    if _slowPath(stateNow.has(StateWord.observed)) { tellOfInsertion(of: dependency, finished: finished) }
  }

  @inline(never)
  private final func tellOfInsertion(of dependency: Operation, finished: Bool) {
    notify(.dependencies)
    guard isReadinessObserved else { return }
    watchForReadiness(dependency)
    if !finished, !stateNow.has(StateWord.started) { notify(.isReady) }
  }

  final func deleteDependency(_ dependency: Operation) {
    var removed = false
    let counted = lock.withLock {
      guard contains(dependency) else { return false }
      removed = true
      if cplatform_is_tracing() { TraceProbe.dependencyRemoved(from: self, dependency) }
      return takeFromList(dependency)
    }
    if counted { releaseOwnCount() }
    if removed, stateNow.has(StateWord.observed) {
      notify(.dependencies)
      if !stateNow.has(StateWord.listed), isReadinessObserved, isReady { notify(.isReady) }
    }
  }

  final func dependencySnapshot() -> [Operation] {
    lock.withLock {
      let state = dependencyState
      if state.only != 0 { return [Operation.retained(state.only)] }
      var found: [Operation] = []
      state.list?.forEachListed { found.append(Operation.retained($0.pointee.dependency)) }
      return found
    }
  }

  /// For a wait that looks for something to run.
  final func firstUnfinishedDependency() -> Operation? {
    lock.withLock {
      let state = dependencyState
      if state.only != 0 {
        let only = Operation.retained(state.only)
        return only.hasDeparted ? nil : only
      }
      var found: Operation?
      state.list?.forEachRecord { _, record in
        guard record.pointee.isListed else { return true }
        let dependency = Operation.retained(record.pointee.dependency)
        if !dependency.hasDeparted { found = dependency }
        return found == nil
      }
      return found
    }
  }

  /// Ready in the sense of the base class.
  final var readyNow: Bool {
    let now = stateNow
    if now.has(StateWord.listed) || now.has(StateWord.cancelled) { return now.isReady }
    return dependencySnapshot().allSatisfy { $0.isFinished }
  }

  // MARK: - The list, under `lock`

  @inline(__always)
  private final func contains(_ dependency: Operation) -> Bool {
    let state = dependencyState
    if state.isNone { return false }
    if state.only != 0 { return state.only == dependency.word }
    // Whoever lists a dependency flags it: most have not been listed by anybody.
    guard dependency.stateNow.has(StateWord.hasDependents), let list = state.list else { return false }
    return list.find(dependency.word) != 0
  }

  /// The list, made of the only dependency if there is none.
  private final func listOfDependencies() -> DependencyList {
    let state = dependencyState
    if let list = state.list { return list }
    let list = DependencyList(owner: word)
    if !state.isNone {
      list.append(state.only | (state.isLinked ? DependencyRecord.linked | DependencyRecord.inside : 0))
    }
    dependencyState = .list(list)
    return list
  }

  @inline(__always)
  private final func append(_ dependency: Operation, flags: UInt) {
    if flags == 0, dependencyState.isNone {
      claimAsDependency(dependency)
      dependencyState = .only(dependency.word, isLinked: false)
    } else {
      append(dependency, to: listOfDependencies(), flags: flags)
    }
  }

  /// - Returns: its edge.
  @discardableResult
  private final func append(_ dependency: Operation, to list: DependencyList, flags: UInt) -> UInt {
    claimAsDependency(dependency)
    return list.append(dependency.word | flags)
  }

  /// Takes the list's reference, and flags the dependency. The flag comes before its edge can be pushed: so a finish that does
  /// not see it came before the flag, and the push, which comes behind the flag, sees that finish.
  @inline(__always)
  private final func claimAsDependency(_ dependency: Operation) {
    _ = Unmanaged.passRetained(dependency)
    if !dependency.stateNow.has(StateWord.hasDependents) { dependency.raise(StateWord.hasDependents) }
  }

  /// Takes a listed dependency out, and gives back the list's reference. The caller holds the dependency: that is not its last.
  /// - Returns: whether one count of the operation went with it, which the caller releases when it holds no lock.
  private final func takeFromList(_ dependency: Operation) -> Bool {
    defer { Unmanaged.passUnretained(dependency).release() }
    let state = dependencyState
    if state.only != 0, !state.isLinked {
      dependencyState = .none
      return false
    }
    let list = listOfDependencies()
    let edge = list.find(dependency.word)
    let record = DependencyList.record(edge).pointee
    var linked = edge
    if !record.has(DependencyRecord.linked) {
      list.remove(edge)
      // Removed before and added again: the edge of the first time counts.
      linked = stateNow.has(StateWord.edgesRemoved) ? list.findUnlisted(dependency.word) : 0
    }
    guard linked != 0 else {
      if list.first.pointee.count == 0 {
        list.deallocate()
        dependencyState = .none
      }
      return false
    }
    let flags = DependencyList.record(linked).pointee.word
    // That edge does not count, since the operation had started when the dependency was added again.
    if flags & DependencyRecord.void != 0 { return false }
    let place = flags & (DependencyRecord.linked | DependencyRecord.inside)
    if !stateNow.has(StateWord.started) {
      // First the flag, then the look at the dependency: one that finishes now either sees the flag and asks, under
      // this lock, whether its edge still counts; or had finished before, and its edge fires by itself.
      raise(StateWord.edgesRemoved)
      if !StateWord(bits: dependency.state.load(ordering: .sequentiallyConsistent)).has(StateWord.finished) {
        let flags = place | DependencyRecord.unlisted | DependencyRecord.void
        list.change(linked, to: dependency.word | flags)
        _ = Unmanaged.passRetained(self)
        return true
      }
    }
    list.change(linked, to: place | DependencyRecord.unlisted)
    return false
  }

  /// The dependency was removed before, with its edge still linked: that edge counts again, unless the operation has started.
  private final func countAgain(_ dependency: Operation) -> Bool {
    guard let list = dependencyState.list else { return false }
    let edge = list.findUnlisted(dependency.word)
    guard edge != 0, countOneMore() else { return false }
    list.change(edge, to: DependencyList.record(edge).pointee.word & ~DependencyRecord.void)
    Unmanaged.passUnretained(self).release()
    return true
  }

  /// An edge fired after edges were removed. One that does not count gives back its reference to the operation.
  /// - Returns: whether it does not count.
  final func forgetRemoved(_ edge: UInt) -> Bool {
    let isVoid = lock.withLock {
      guard let list = dependencyState.list else { return false }
      let place = EdgeWord.isInside(edge) ? list.findInside() : edge
      guard place != 0 else { return false }
      let record = DependencyList.record(place).pointee
      guard record.has(DependencyRecord.void) else { return false }
      list.change(place, to: record.word & DependencyRecord.flags & ~DependencyRecord.void)
      return true
    }
    if isVoid { Unmanaged.passUnretained(self).release() }
    return isVoid
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
    release(edge: nil, into: &batch)
    batch.submit()
    withExtendedLifetime(queue) {}
  }

  /// Links every dependency of an operation that has just been listed, and takes the queue's own count away.
  /// - Returns: false when that count is still there: its release takes user code that may not run in this batch.
  final func linkDependencies(into batch: inout ReadyBatch) -> Bool {
    guard stateNow.has(StateWord.hasEpilogue) else { return release(edge: nil, into: &batch) }
    lock.lock()
    var (unlinked, mustAsk) = lookAtDependencies()
    var saidFinished: Set<UInt>?
    if _slowPath(mustAsk) {
      lock.unlock()
      saidFinished = Set(dependencySnapshot().filter { $0.mayOnlySayFinished && $0.isFinished }.map(\.word))
      lock.lock()
      unlinked = lookAtDependencies().unlinked
    }
    var satisfied: UInt64 = 0
    let words = dependencyState
    if unlinked > 0 {
      // The queue's own count becomes an edge's.
      if unlinked > 1 {
        _ = state.wrappingAdd((unlinked - 1) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
      }
      if let list = words.list {
        satisfied = link(list, except: saidFinished)
      } else if link(words.only, edge: EdgeWord.inside(self), except: saidFinished) {
        dependencyState = .only(words.only, isLinked: true)
      } else {
        satisfied = 1
      }
    }
    lock.unlock()
    if unlinked > 0, satisfied == 0 { return true }
    if satisfied > 1 {
      _ = state.wrappingSubtract((satisfied - 1) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
    }
    return release(edge: nil, into: &batch)
  }

  /// Under `lock`: listed dependencies whose edge is not linked, and whether the class of one of them has to be asked.
  @inline(__always)
  private final func lookAtDependencies() -> (unlinked: UInt64, mustAsk: Bool) {
    let words = dependencyState
    if words.only != 0 {
      let mustAsk = Operation.unmanaged(words.only)._withUnsafeGuaranteedRef { $0.mayOnlySayFinished }
      return (words.isLinked ? 0 : 1, mustAsk && !words.isLinked)
    }
    var unlinked: UInt64 = 0
    var mustAsk = false
    words.list?.forEachListed {
      guard !$0.pointee.has(DependencyRecord.linked) else { return }
      unlinked += 1
      if Operation.unmanaged($0.pointee.dependency)._withUnsafeGuaranteedRef({ $0.mayOnlySayFinished }) {
        mustAsk = true
      }
    }
    return (unlinked, mustAsk)
  }

  /// Under `lock`.
  /// - Returns: how many dependencies have finished, so that their edge was not linked.
  @inline(__always)
  private final func link(_ list: DependencyList, except saidFinished: Set<UInt>?) -> UInt64 {
    var satisfied: UInt64 = 0
    list.forEachRecord { edge, record in
      guard record.pointee.isListed, !record.pointee.has(DependencyRecord.linked) else { return true }
      if link(record.pointee.dependency, edge: edge, except: saidFinished) {
        record.pointee.word |= DependencyRecord.linked
      } else {
        satisfied += 1
      }
      return true
    }
    return satisfied
  }

  @inline(__always)
  private final func link(_ dependency: UInt, edge: UInt, except saidFinished: Set<UInt>?) -> Bool {
    if let saidFinished, saidFinished.contains(dependency) { return false }
    let dependency: Unmanaged<Operation> = Operation.unmanaged(dependency)
    return dependency._withUnsafeGuaranteedRef { $0.push(edge: edge) } == .linked
  }

  /// Its class may override `isFinished`, which is true before the operation has been told so. Only one that has started, or
  /// that nobody will start, is asked.
  @inline(__always)
  private final var mayOnlySayFinished: Bool {
    let now = stateNow
    return !now.has(StateWord.finished) && (now.has(StateWord.started) || !now.has(StateWord.enqueued)) && !isPlain
  }

  // MARK: - Letting go

  /// After the finish and the completion block.
  final func releaseDependencies() {
    lock.lock()
    let before = dependencyState
    guard !before.isNone else { return lock.unlock() }
    if before.only != 0 {
      dependencyState = .none
      lock.unlock()
      return Self.letGo(before.only)
    }
    let now = stateNow
    guard now.dependencyCount == 0, !now.has(StateWord.edgesRemoved), let list = before.list else {
      // Edges are still in stacks: their memory stays until the operation goes.
      var taken: [Operation] = []
      takeDependencies(into: &taken)
      lock.unlock()
      return Self.releaseIteratively(&taken)
    }
    dependencyState = .none
    lock.unlock()
    // Nobody adds a dependency any more.
    list.forEachListed { Self.letGo($0.pointee.dependency) }
    list.deallocate()
  }

  /// Gives back a reference to a dependency, which may be the last one.
  @inline(__always)
  private static func letGo(_ word: UInt) {
    // One that has finished has let its own dependencies go, save for an instant.
    let dependency: Unmanaged<Operation> = Operation.unmanaged(word)
    if dependency._withUnsafeGuaranteedRef({ $0.dependencyWord.load(ordering: .relaxed) }) == 0 {
      return dependency.release()
    }
    var taken = [dependency.takeRetainedValue()]
    releaseIteratively(&taken)
  }

  /// From `deinit`: nobody else can refer to the operation.
  final func releaseStorage() {
    var taken: [Operation] = []
    takeDependencies(into: &taken)
    dependencyState.list?.deallocate()
    releaseExtras()
    Self.releaseIteratively(&taken)
  }

  /// Empties the list; records whose edges stand in a stack stay.
  private final func takeDependencies(into taken: inout [Operation]) {
    let state = dependencyState
    if state.only != 0 {
      dependencyState = .none
      taken.append(Operation.unmanaged(state.only).takeRetainedValue())
    }
    state.list?.forEachRecord { _, record in
      guard record.pointee.isListed else { return true }
      taken.append(Operation.unmanaged(record.pointee.dependency).takeRetainedValue())
      let place = record.pointee.word & (DependencyRecord.linked | DependencyRecord.inside)
      record.pointee.word = place == 0 ? 0 : place | DependencyRecord.unlisted
      return true
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
