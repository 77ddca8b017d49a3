import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

// The list of dependencies, and the edges that make the operation wait. Everything here is iterative: a chain may be
// a million long.

/// What `Operation.dependencyWord` says: nothing, the only dependency (an owned reference; bit 0 is set when the
/// dependency's edge is linked), or a list (bit 1 is set).
struct DependencyWord {
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
  final var dependencyState: DependencyWord {
    get { DependencyWord(bits: dependencyWord.load(ordering: .relaxed)) }
    set { dependencyWord.store(newValue.bits, ordering: .relaxed) }
  }

  // MARK: - Changing

  final func insertDependency(_ dependency: Operation) {
    if dependency === self { misuse(self, "an operation cannot depend on itself") }
    // A subclass's property may take the subclass's locks. So the property is read before the operation's own lock is
    // held.
    let finished = dependency.mayOnlySayFinished && dependency.isFinished
    var result: PushResult?
    let changed = lock.withLock {
      guard !contains(dependency) else { return false }
      let now = stateNow
      // The flags are set before the look at `listed`. Enqueueing looks the other way round, so one of the two sees the
      // other's change. A finish that comes later lets the dependency go again. A thread that set the flags before
      // held this lock.
      let before =
        now.has(StateWord.hasDependencies) ? now : raise(StateWord.hasEpilogue | StateWord.hasDependencies)
      if before.has(StateWord.finished) { return false }
      if before.has(StateWord.edgesRemoved), appendAgain(dependency) { return true }
      if stateNow.has(StateWord.listed), !finished, countOneMore() {
        // From `listed` on, the thread that adds a dependency links the edge; before `listed`, enqueueing links it.
        let list = listOfDependencies()
        let edge = append(dependency, to: list, flags: DependencyRecord.linked)
        result = dependency.push(edge: edge)
        if result == .finished { list.change(edge, to: dependency.word) }
        if cplatform_is_tracing() { TraceProbe.dependencyAdded(to: self, dependency) }
      } else {
        append(dependency)
      }
      if _slowPath(stateNow.has(StateWord.observed)) { enqueueDependencies() }
      return true
    }
    guard changed else { return }
    if result == .finished { releaseOwnCount() }
    lendFloor(to: dependency)
    if _slowPath(!isPlain || stateNow.has(StateWord.observed)) { tellOfInsertion(of: dependency) }
  }

  /// Called under `lock`: the list of dependencies has changed.
  @inline(never)
  private final func enqueueDependencies() {
    guard extrasIfAny != nil else { return }
    _ = extras.observers.enqueue(.dependencies) { ObservedValue(value: listedDependencies()) }
  }

  @inline(never)
  private final func deliverDependencies() {
    deliver(lock.withLock { extrasIfAny?.pointee.observers.forKey(.dependencies) ?? [] })
  }

  @inline(never)
  private final func tellOfInsertion(of dependency: Operation) {
    if stateNow.has(StateWord.observed) { deliverDependencies() }
    if mayWatchReadiness {
      watchForReadiness(dependency)
      if isReadinessObserved { reportReadinessInNoQueue() }
    } else if stateNow.has(StateWord.observed), isReadinessObserved {
      reportReadiness()
    }
  }

  final func deleteDependency(_ dependency: Operation) {
    var removed = false
    let counted = lock.withLock {
      guard contains(dependency) else { return false }
      removed = true
      if cplatform_is_tracing() { TraceProbe.dependencyRemoved(from: self, dependency) }
      let isCounted = takeFromList(dependency)
      if _slowPath(stateNow.has(StateWord.observed)) { enqueueDependencies() }
      return isCounted
    }
    if counted { releaseOwnCount() }
    guard removed, _slowPath(!isPlain || stateNow.has(StateWord.observed)) else { return }
    if stateNow.has(StateWord.observed) { deliverDependencies() }
    if mayWatchReadiness { endWatch(of: dependency) }
  }

  @inline(never)
  final func dependencySnapshot() -> [Operation] { lock.withLock { listedDependencies() } }

  /// Called under `lock`.
  private final func listedDependencies() -> [Operation] {
    let state = dependencyState
    if state.only != 0 { return [Operation.retained(state.only)] }
    var dependencies: [Operation] = []
    state.list?.forEachListed { dependencies.append(Operation.retained($0.dependency)) }
    return dependencies
  }

  /// Reports the readiness of an operation in a queue, if it has changed.
  final func reportReadiness() {
    let reads = overridesIsReady
    report { list in
      let ready = stateNow.isReady
      return list.change(.isReady, to: ready)
        ? list.enqueue(.isReady) { reads ? nil : ObservedValue(value: ready) } : []
    }
  }

  /// The first dependency that has not departed, for a wait that looks for something to run. O(1) on average over the
  /// calls of a wait that runs one dependency after the other.
  final func firstUnfinishedDependency() -> Operation? {
    lock.withLock {
      let state = dependencyState
      if state.only != 0 {
        let only = Operation.retained(state.only)
        return only.hasDeparted ? nil : only
      }
      let dependency = state.list?.firstDependency {
        Operation.unmanaged($0)._withUnsafeGuaranteedRef { $0.hasDeparted }
      }
      return dependency.flatMap { $0 == 0 ? nil : Operation.retained($0) }
    }
  }

  /// Whether the operation is ready in the sense of the base class.
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
    // Every operation that lists a dependency flags it. Most dependencies have not been listed by anybody.
    guard dependency.stateNow.has(StateWord.hasDependents), let list = state.list, list.mayHold(dependency.word) else {
      return false
    }
    return list.find(dependency.word) != 0
  }

  /// The list. If there is none, a list is made of the only dependency.
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

  /// For an operation that no queue has listed: enqueueing links the edge.
  @inline(__always)
  final func appendUnlessListed(_ dependency: Operation) {
    if !contains(dependency) { append(dependency) }
  }

  /// For an operation that only the calling thread knows. The reference to the dependency becomes the list's.
  /// - Returns: false when the operation has that dependency already: the reference is still the caller's.
  @inline(__always)
  final func appendWhileNew(_ dependency: UInt) -> Bool {
    let words = dependencyState
    // The flag comes before the dependency's edge can be pushed, as in `claimAsDependency`. A dependency without the
    // flag is in no list.
    let wasFlagged = Operation.unmanaged(dependency)._withUnsafeGuaranteedRef { (dependency: Operation) in
      if _slowPath(!dependency.isPlain) { noteClass(of: dependency) }
      let wasFlagged = dependency.stateNow.has(StateWord.hasDependents)
      if !wasFlagged { dependency.raise(StateWord.hasDependents) }
      return wasFlagged
    }
    if words.bits & 2 != 0 {
      let list = DependencyList(word: words.bits & ~2)
      if wasFlagged, list.mayHold(dependency), list.find(dependency) != 0 { return false }
      list.append(dependency)
    } else if words.isNone {
      let flags = StateWord.hasEpilogue | StateWord.hasDependencies
      state.store(state.load(ordering: .relaxed) | flags, ordering: .relaxed)
      dependencyState = .only(dependency, isLinked: false)
    } else {
      if words.only == dependency { return false }
      let list = DependencyList(owner: word)
      list.append(words.only)
      list.append(dependency)
      dependencyState = .list(list)
    }
    return true
  }

  /// Enqueueing links the edge.
  @inline(__always)
  private final func append(_ dependency: Operation) {
    if dependencyState.isNone {
      claimAsDependency(dependency)
      dependencyState = .only(dependency.word, isLinked: false)
    } else {
      append(dependency, to: listOfDependencies(), flags: 0)
    }
    // A queue that has the operation has traced the edges of before.
    if _slowPath(cplatform_is_tracing()), queueWord.load(ordering: .relaxed) != 0 {
      TraceProbe.dependencyAdded(to: self, dependency)
    }
  }

  /// - Returns: the dependency's edge.
  @discardableResult
  private final func append(_ dependency: Operation, to list: DependencyList, flags: UInt) -> UInt {
    claimAsDependency(dependency)
    return list.append(dependency.word | flags)
  }

  /// Takes the list's reference, and flags the dependency. The flag comes before the dependency's edge can be pushed.
  /// So a finish that does not see the flag came before the flag. The push comes after the flag, and sees that
  /// finish.
  @inline(__always)
  private final func claimAsDependency(_ dependency: Operation) {
    _ = Unmanaged.passRetained(dependency)
    if _slowPath(!dependency.isPlain) { noteClass(of: dependency) }
    flagAsDependency(dependency)
  }

  @inline(never)
  private final func noteClass(of dependency: Operation) {
    if dependency.overridesIsFinished { raise(StateWord.asksFinished) }
  }

  @inline(__always)
  private final func flagAsDependency(_ dependency: Operation) {
    if !dependency.stateNow.has(StateWord.hasDependents) { dependency.raise(StateWord.hasDependents) }
  }

  /// Takes a listed dependency out, and gives back the list's reference. The caller holds the dependency: the list's
  /// reference is not the last.
  /// - Returns: whether one count of the operation went with the dependency. The caller releases that count when it
  ///   holds no lock.
  private final func takeFromList(_ dependency: Operation) -> Bool {
    defer { Unmanaged.passUnretained(dependency).release() }
    let state = dependencyState
    if state.only != 0, !state.isLinked {
      dependencyState = .none
      return false
    }
    let list = listOfDependencies()
    let edge = list.find(dependency.word)
    let record = DependencyList.record(edge)
    var linked = edge
    if !record.has(DependencyRecord.linked) {
      list.remove(edge)
      // The dependency was removed before and added again: the edge of the first time counts.
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
    // The edge found does not count, since the operation had started when the dependency was added again.
    if flags & DependencyRecord.void != 0 { return false }
    let place = flags & (DependencyRecord.linked | DependencyRecord.inside)
    if !stateNow.has(StateWord.started) {
      // First comes the flag, then the look at the dependency. A dependency that finishes now either sees the flag
      // and asks, under this lock, whether its edge still counts; or it had finished before, and its edge fires by
      // itself.
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

  /// The dependency was removed before, with its edge still linked: that edge counts again, unless the operation has
  /// started.
  /// - Returns: whether the dependency is listed again.
  @inline(never)
  private final func appendAgain(_ dependency: Operation) -> Bool {
    guard let list = dependencyState.list else { return false }
    let edge = list.findUnlisted(dependency.word)
    guard edge != 0, countOneMore() else { return false }
    list.change(edge, to: DependencyList.record(edge).pointee.word & ~DependencyRecord.void)
    append(dependency, to: list, flags: 0)
    Unmanaged.passUnretained(self).release()
    return true
  }

  /// An edge fired after edges were removed. An edge that does not count gives back its reference to the operation.
  /// - Returns: whether the edge does not count.
  final func forgetRemoved(_ edge: UInt) -> Bool {
    let isVoid = lock.withLock {
      guard let list = dependencyState.list else { return false }
      let place = EdgeWord.isInside(edge) ? list.findInside() : edge
      guard place != 0 else { return false }
      let record = DependencyList.record(place)
      guard record.has(DependencyRecord.void) else { return false }
      list.change(place, to: record.pointee.word & DependencyRecord.flags & ~DependencyRecord.void)
      return true
    }
    if isVoid { Unmanaged.passUnretained(self).release() }
    return isVoid
  }

  /// Adds one to the count unless the operation has started.
  final func countOneMore() -> Bool {
    var old = stateNow
    while !old.has(StateWord.started), !old.has(StateWord.finished) {
      if replaceState(old, with: StateWord(bits: old.bits &+ StateWord.oneDependency)) { return true }
      old = stateNow
    }
    return false
  }
}
