import CPlatform
import Primitives
import Synchronization

// The edges of an operation that has been listed: the thread that adds the operation links the edges, and takes away
// the queue's own count.

extension Operation {
  /// One count of this operation goes away outside of any dependency's finish.
  final func releaseOwnCount() {
    // Until the count is gone the operation cannot leave its queue; afterwards this reference keeps the queue.
    let queue = retainedQueue()
    var handover = Handover()
    release(edge: nil, into: &handover)
    handover.submit()
    withExtendedLifetime(queue) {}
  }

  /// Links every dependency of an operation that has just been listed, and takes away the queue's own count.
  /// - Returns: false when that count is still there, because its release takes user code that may not run in this
  ///   handover.
  final func linkDependencies(into handover: inout Handover) -> Bool {
    guard stateNow.has(StateWord.hasDependencies) else { return release(edge: nil, into: &handover) }
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
      // The queue's own count becomes the count of one edge.
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
      let left = state.wrappingSubtract((satisfied - 1) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
      assert(StateWord(bits: left.newValue).dependencyCount > 0, "the queue's own count was counted off with an edge's")
    }
    return release(edge: nil, into: &handover)
  }

  /// Links every dependency of a plain operation that only the calling thread knows, and that this thread lists next.
  /// The operation's own count stays: nobody starts the operation until the queue takes that count away.
  /// - Returns: how many of the operation's counts the queue takes away: its own, and those of dependencies that have
  ///   finished. Nil when nothing was done, because the class of a dependency has to be asked.
  final func linkWhileNew() -> UInt64? {
    assert(isPlain && !stateNow.has(StateWord.enqueued), "an operation that others may know is taken for a new one")
    let (unlinked, mustAsk) = lookAtDependencies()
    if _slowPath(mustAsk) { return nil }
    // The last change of the word by a plain store. From the first push on, a thread that finishes a dependency counts
    // the edge off. Such a thread reads none of the fields that `listed` stands for.
    let bits = stateNow.bits &+ unlinked &* StateWord.oneDependency
    state.store(bits | StateWord.enqueued | StateWord.listed, ordering: .relaxed)
    guard unlinked > 0 else { return 1 }
    let words = dependencyState
    if let list = words.list { return 1 + link(list, except: nil) }
    let isLinked = link(words.only, edge: EdgeWord.inside(self), except: nil)
    dependencyState = .only(words.only, isLinked: isLinked)
    return isLinked ? 1 : 2
  }

  /// Takes away the counts that `linkWhileNew` returned. From here on the operation may start. A thread that cancels
  /// the operation meanwhile schedules it, since the operation was listed before anybody could find it.
  /// - Parameter counts: at least 1.
  @inline(__always)
  final func becomeStartable(releasing counts: UInt64, into handover: inout Handover) {
    if counts > 1 {
      _ = state.wrappingSubtract((counts - 1) &* StateWord.oneDependency, ordering: .acquiringAndReleasing)
    }
    release(edge: nil, into: &handover)
  }

  /// Called under `lock`, or where only the calling thread knows the operation. Counts the listed dependencies whose
  /// edge is not linked, and says whether the class of one of them has to be asked.
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
      guard !$0.has(DependencyRecord.linked) else { return }
      unlinked += 1
      if Operation.unmanaged($0.dependency)._withUnsafeGuaranteedRef({ $0.mayOnlySayFinished }) {
        mustAsk = true
      }
    }
    return (unlinked, mustAsk)
  }

  /// Called as `lookAtDependencies` is.
  /// - Returns: how many dependencies have finished, so that their edge was not linked.
  @inline(__always)
  private final func link(_ list: DependencyList, except saidFinished: Set<UInt>?) -> UInt64 {
    var satisfied: UInt64 = 0
    list.forEachRecord { edge, record in
      guard record.isListed, !record.has(DependencyRecord.linked) else { return true }
      if link(record.dependency, edge: edge, except: saidFinished) {
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

  /// Whether the operation's class may override `isFinished`, so that `isFinished` is true before the operation has
  /// been told of its finish. Only an operation that has started, or that nobody will start, is asked.
  @inline(__always)
  final var mayOnlySayFinished: Bool {
    let now = stateNow
    return !now.has(StateWord.finished) && (now.has(StateWord.started) || !now.has(StateWord.enqueued)) && !isPlain
  }
}
