import Primitives
import Synchronization

// The operations that wait for this one: a stack of edges, pushed by compare-exchange, sealed by one exchange at the
// finish. An edge word is 0 (end), `sealed`, an operation with bit 0 set (the edge inside that operation), or an `Edge`.

/// An edge of an operation with several dependencies, in memory of that operation.
struct Edge {
  var next: UInt
  let dependent: UInt
}

enum EdgeWord {
  /// No more edges: the operation has finished.
  static let sealed: UInt = 2

  static func inside(_ dependent: Operation) -> UInt { dependent.word | 1 }
  static func pointing(to edge: UnsafeMutablePointer<Edge>) -> UInt { UInt(bitPattern: edge) }

  static func next(of edge: UInt) -> UInt {
    edge & 1 == 1
      ? Operation.unmanaged(edge & ~1)._withUnsafeGuaranteedRef { $0.edgeNext.load(ordering: .relaxed) }
      : pointer(edge).pointee.next
  }

  static func setNext(of edge: UInt, to next: UInt) {
    if edge & 1 == 1 {
      Operation.unmanaged(edge & ~1)._withUnsafeGuaranteedRef { $0.edgeNext.store(next, ordering: .relaxed) }
    } else {
      pointer(edge).pointee.next = next
    }
  }

  static func dependent(of edge: UInt) -> UInt { edge & 1 == 1 ? edge & ~1 : pointer(edge).pointee.dependent }

  private static func pointer(_ edge: UInt) -> UnsafeMutablePointer<Edge> {
    UnsafeMutablePointer(bitPattern: edge).unsafelyUnwrapped
  }
}

extension Operation {
  enum PushResult {
    case linked
    /// This operation has finished: the edge was not pushed.
    case finished
    /// Pushed, but the finish did not see it: the caller calls `releaseDependents` when it holds no lock.
    case mustRelease
  }

  /// Links an edge of another operation to this one, its dependency.
  final func push(edge: UInt) -> PushResult {
    var head = dependents.load(ordering: .acquiring)
    while true {
      if head == EdgeWord.sealed { return .finished }
      EdgeWord.setNext(of: edge, to: head)
      let result = dependents.compareExchange(
        expected: head, desired: edge, successOrdering: .sequentiallyConsistent, failureOrdering: .acquiring)
      if result.exchanged { break }
      head = result.original
    }
    if StateWord(bits: state.load(ordering: .sequentiallyConsistent)).has(StateWord.hasDependents) { return .linked }
    return raise(StateWord.hasDependents).has(StateWord.finished) ? .mustRelease : .linked
  }

  /// Seals the stack and releases every operation in it, in the order of linking.
  /// - Parameters:
  ///   - frame: where the next job of this thread goes, when it may run one.
  ///   - mayRunUserCode: whether a dependent's overridden `isReady` may be asked on this thread.
  final func releaseDependents(frame: UnsafeMutablePointer<LaunchFrame>?, mayRunUserCode: Bool = false) {
    var edge = dependents.exchange(EdgeWord.sealed, ordering: .acquiringAndReleasing)
    guard edge != EdgeWord.sealed else { return }
    var batch = ReadyBatch(home: frame?.pointee.home ?? 0, mayRunUserCode: mayRunUserCode)
    if edge != 0, EdgeWord.next(of: edge) != 0 {
      var reversed: UInt = 0
      while edge != 0 {
        let older = EdgeWord.next(of: edge)
        EdgeWord.setNext(of: edge, to: reversed)
        reversed = edge
        edge = older
      }
      edge = reversed
    }
    while edge != 0 {
      // Read before the release: the edge's memory may go with its operation.
      let next = EdgeWord.next(of: edge)
      Operation.unmanaged(EdgeWord.dependent(of: edge))._withUnsafeGuaranteedRef {
        $0.release(by: word, into: &batch)
      }
      edge = next
    }
    if let frame, frame.pointee.successor == 0 { frame.pointee.successor = batch.takeSuccessor() }
    batch.submit()
  }

  /// One dependency (or, with `dependency` nil, the queue's own count) less to wait for.
  /// - Parameter dependency: its word, only to be compared.
  final func release(by dependency: UInt?, into batch: inout ReadyBatch) {
    var old = stateNow
    // With no dependency left and nobody responsible for the start yet, a concurrent cancel() may start it and let it go;
    // with its link in use elsewhere, so may an older entry.
    let hold = old.has(StateWord.asksReady) || old.has(StateWord.linked) ? Operation.retained(word) : nil
    defer { withExtendedLifetime(hold) {} }
    while true {
      if let dependency, old.has(StateWord.edgesRemoved), forgetRemoved(dependency) { return }
      let (next, action) = old.releasingOne()
      let result = state.compareExchange(
        expected: old.bits, desired: next.bits, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if result.exchanged {
        // After `.nothing` the operation may be gone.
        switch action {
        case .nothing: return
        case .schedule(let useLink):
          if next.has(StateWord.observed) {
            batch.flush()
            notify(.isReady)
          }
          return batch.add(self, useLink: useLink)
        case .askReady:
          guard batch.mayRunUserCode else {
            raise(StateWord.heldBack)
            return requestExamination()
          }
          batch.flush()
          if next.has(StateWord.observed) { notify(.isReady) }
          return askReady(into: &batch)
        case .leave:
          _ = leaveQueue()
          return Unmanaged.passUnretained(self).release()
        }
      }
      old = StateWord(bits: result.original)
    }
  }

  /// The edge that fired belongs to a dependency that was removed: it keeps the operation alive, and does not count.
  private final func forgetRemoved(_ dependency: UInt) -> Bool {
    let known = lock.withLock { extrasIfAny?.removed.remove(dependency) != nil }
    if known { Unmanaged.passUnretained(self).release() }
    return known
  }

  /// No dependency is left; a subclass may have a condition of its own. Not called with the subclass's locks held, save
  /// by the thread that adds the operation.
  final func askReady(into batch: inout ReadyBatch) {
    while true {
      let before = StateWord(bits: state.bitwiseAnd(~StateWord.askAgain, ordering: .sequentiallyConsistent).newValue)
      guard canBeScheduled(before) else { return }
      let ready = before.has(StateWord.cancelled) || isReady
      let now = stateNow
      guard canBeScheduled(now) else { return }
      var next = now
      if ready || now.has(StateWord.cancelled) {
        let useLink = next.setScheduled()
        if replaceState(now, with: next) { return batch.add(self, useLink: useLink) }
      } else if !now.has(StateWord.askAgain) {
        next.bits |= StateWord.heldBack
        if replaceState(now, with: next) { return }
      }
    }
  }

  private final func canBeScheduled(_ word: StateWord) -> Bool {
    word.bits & (StateWord.scheduled | StateWord.started | StateWord.finished) == 0
      && word.isReady && word.has(StateWord.listed)
  }
}
