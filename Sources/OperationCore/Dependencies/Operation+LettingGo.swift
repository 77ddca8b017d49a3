import CPlatform
import Primitives
import Synchronization

// Giving back references to dependencies at the end. Everything here is iterative: a chain may be a million long.

extension Operation {
  /// Lets the dependencies go, after the finish and the completion block.
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
      // Edges are still in stacks: the edges' memory stays until the operation goes.
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

  /// Gives back a reference to a dependency. The reference may be the last one.
  @inline(__always)
  private static func letGo(_ word: UInt) {
    // A dependency that has finished has let its own dependencies go, except for an instant after its finish.
    let dependency: Unmanaged<Operation> = Operation.unmanaged(word)
    if dependency._withUnsafeGuaranteedRef({ $0.dependencyWord.load(ordering: .relaxed) }) == 0 {
      let mayBeReused = dependency._withUnsafeGuaranteedRef { $0.mayBeReused.load(ordering: .relaxed) }
      return mayBeReused != 0 ? SpareOperations.giveBack(word) : dependency.release()
    }
    var taken = [dependency.takeRetainedValue()]
    releaseIteratively(&taken)
  }

  /// Called from `deinit`: nobody else can refer to the operation.
  final func releaseStorage() {
    // The memory is used again, not freed: what others wrote to the memory has to come before. The last release has
    // ordered those writes already, but ThreadSanitizer sees only the two acquiring loads below.
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

  /// Releases operations without recursion: an operation whose last reference is released here hands over its own
  /// dependencies first. The hand-over is done under that operation's lock, though nobody else can take the lock. The
  /// look at the reference count does not acquire what others did before they let go; the lock does.
  private static func releaseIteratively(_ taken: inout [Operation]) {
    while var last = taken.popLast() {
      if isKnownUniquelyReferenced(&last) {
        last.lock.withLock { last.takeDependencies(into: &taken) }
      }
    }
  }
}
