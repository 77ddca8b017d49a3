import CPlatform
import Primitives
import Synchronization

// References to dependencies, given back at the end. Iterative: a chain may be a million long.

extension Operation {
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
    list.forEachListed { Self.letGo($0.dependency) }
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
    // Memory that is used again, not freed: what others wrote to it comes before. The last release has ordered that already, but
    // ThreadSanitizer sees only these two.
    lock.acquireLastUnlock()
    _ = stateNow
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
      guard record.isListed else { return true }
      taken.append(Operation.unmanaged(record.dependency).takeRetainedValue())
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
