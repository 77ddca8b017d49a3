import OperationExecutors
import OperationJobs
import Primitives
import Synchronization

// The operations that wait for this one: a stack of edges. An edge is pushed by compare-exchange; one exchange at the
// finish seals the stack. An edge word is 0 (end), `sealed`, an operation with bit 0 set (the edge inside that
// operation), a `FinishWaiter` with bit 3 alone set, or an edge of a `DependencyList`.

enum EdgeWord {
  /// No more edges: the operation has finished.
  static let sealed: UInt = 2

  static func inside(_ dependent: Operation) -> UInt { dependent.word | 1 }
  @inline(__always) static func isInside(_ edge: UInt) -> Bool { edge & 15 == 1 }

  /// The low bits of a `FinishWaiter`'s edge. The edges of a `DependencyList` have 2 to 6 there.
  static let waiter: UInt = 8
  @inline(__always) static func isWaiter(_ edge: UInt) -> Bool { edge & 15 == waiter }

  @inline(__always)
  static func next(of edge: UInt) -> UInt {
    if isInside(edge) {
      return Operation.unmanaged(edge & ~1)._withUnsafeGuaranteedRef { $0.edgeNext.load(ordering: .relaxed) }
    }
    if _slowPath(isWaiter(edge)) {
      return FinishWaiter.next(of: edge)
    }
    return DependencyList.record(edge).pointee.next
  }

  @inline(__always)
  static func setNext(of edge: UInt, to next: UInt) {
    if _slowPath(isWaiter(edge)) {
      FinishWaiter.setNext(of: edge, to: next)
    } else {
      setNext(ofOperation: edge, to: next)
    }
  }

  /// - Parameter edge: not a waiter's.
  @inline(__always)
  static func setNext(ofOperation edge: UInt, to next: UInt) {
    if isInside(edge) {
      Operation.unmanaged(edge & ~1)._withUnsafeGuaranteedRef { $0.edgeNext.store(next, ordering: .relaxed) }
    } else {
      DependencyList.record(edge).pointee.next = next
    }
  }

  /// - Parameter edge: not a waiter's.
  @inline(__always)
  static func dependent(of edge: UInt) -> UInt { isInside(edge) ? edge & ~1 : DependencyList.owner(of: edge) }
}

/// Edges in the order of linking, linked through themselves.
struct EdgeList {
  private var first: UInt = 0
  private var last: UInt = 0

  init() {}

  /// - Parameter stack: the newest edge of a stack, or 0.
  @inline(__always)
  init(stack: UInt) {
    last = stack
    first = stack
    if stack != 0, EdgeWord.next(of: stack) != 0 { reverse() }
  }

  private mutating func reverse() {
    var edge = last
    first = 0
    while edge != 0 {
      let older = EdgeWord.next(of: edge)
      EdgeWord.setNext(of: edge, to: first)
      first = edge
      edge = older
    }
  }

  var isEmpty: Bool { first == 0 }

  /// The edge's link is read here: the edge's memory may go with its operation.
  mutating func popFirst() -> UInt? {
    guard first != 0 else { return nil }
    let edge = first
    first = edge == last ? 0 : EdgeWord.next(of: edge)
    return edge
  }

  // Not inlined: few edges are put off, and few are of tasks. With them inlined, the loop that releases an edge was
  // not.
  @inline(never)
  mutating func append(_ edge: UInt) {
    if first == 0 { first = edge } else { EdgeWord.setNext(of: last, to: edge) }
    last = edge
  }
}

extension Operation {
  enum PushResult {
    case linked
    /// This operation has finished: the edge was not pushed.
    case finished
  }

  /// Links an edge of another operation to this operation, the dependency. This operation has the flag
  /// `hasDependents` by now.
  final func push(edge: UInt) -> PushResult { push(edge) { EdgeWord.setNext(ofOperation: edge, to: $0) } }

  /// Links the edge of a task that waits for this operation, as `push(edge:)` does.
  final func push(waiter edge: UInt) -> PushResult { push(edge) { FinishWaiter.setNext(of: edge, to: $0) } }

  @inline(__always)
  private final func push(_ edge: UInt, setNext: (UInt) -> Void) -> PushResult {
    assert(stateNow.has(StateWord.hasDependents), "an edge is pushed where the finish does not look for edges")
    // An operation that finished without dependents has left its stack open: an edge that is added later must not be
    // pushed there.
    if stateNow.has(StateWord.finished) { return .finished }
    var head = dependents.load(ordering: .acquiring)
    while true {
      if head == EdgeWord.sealed { return .finished }
      setNext(head)
      let result = dependents.compareExchange(
        expected: head, desired: edge, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if result.exchanged { return .linked }
      head = result.original
    }
  }

  /// Seals the stack and releases every operation in it, in the order of linking. Operations whose readiness is
  /// observed are released last.
  /// - Parameters:
  ///   - frame: where the next job of this thread goes, when the thread may run a job.
  ///   - asks: where a dependent's overridden `isReady` may be asked.
  ///   - place: the place of this operation. The place is given away when the dependents are in the controller's
  ///     lists.
  ///   - isFinish: whether the completion block may have its turn behind the last step that runs no user code.
  final func releaseDependents(
    frame: UnsafeMutablePointer<LaunchFrame>? = nil, asks: Handover.Asks = .elsewhere,
    place: consuming QueuePlace? = nil, isFinish: Bool = false
  ) {
    let top = dependents.exchange(EdgeWord.sealed, ordering: .acquiringAndReleasing)
    var handover = Handover(home: frame?.pointee.home ?? 0, asks: asks, mayNotify: false, place: place)
    var edges = EdgeList(stack: top == EdgeWord.sealed ? 0 : top)
    var observed = EdgeList()
    var waiters = EdgeList()
    if isFinish, asks == .here { departed.store(Self.epilogueMayRun, ordering: .releasing) }
    release(&edges, into: &handover, putOff: &observed, waiters: &waiters)
    // Observers may run for long: no job may wait for this thread.
    handover.flush(frame: observed.isEmpty ? frame : nil)
    if isFinish, asks == .elsewhere { departed.store(Self.epilogueMayRun, ordering: .releasing) }
    if _slowPath(!waiters.isEmpty) { FinishWaiter.resume(waiters, isFinished: isFinish) }
    if _slowPath(!observed.isEmpty) { releaseObserved(&observed, into: handover) }
  }

  @inline(never)
  private final func releaseObserved(_ observed: inout EdgeList, into handover: consuming Handover) {
    handover.mayNotify = true
    var (none, waiters) = (EdgeList(), EdgeList())
    release(&observed, into: &handover, putOff: &none, waiters: &waiters)
    handover.submit()
  }

  /// - Parameters:
  ///   - putOff: gets the edges of operations whose observers may not be called yet.
  ///   - waiters: gets the edges of tasks.
  @inline(__always)
  private final func release(
    _ edges: inout EdgeList, into handover: inout Handover, putOff: inout EdgeList, waiters: inout EdgeList
  ) {
    while let edge = edges.popFirst() {
      if _slowPath(EdgeWord.isWaiter(edge)) {
        waiters.append(edge)
        continue
      }
      let dependent: Unmanaged<Operation> = Operation.unmanaged(EdgeWord.dependent(of: edge))
      // A release that is put off leaves the count as it is. The count keeps the dependent and its edge.
      if !dependent._withUnsafeGuaranteedRef({ $0.release(edge: edge, into: &handover) }) { putOff.append(edge) }
    }
  }

  /// One dependency less to wait for. `edge` is the edge of that dependency; nil: one count less that belongs to no
  /// edge.
  /// - Returns: false when nothing was done, because observers have to be told and this handover may not call observers
  ///   yet.
  @discardableResult
  @inline(__always)
  final func release(edge: UInt?, into handover: inout Handover) -> Bool {
    var old = stateNow
    // Most operations are only counted, or scheduled by their link.
    while let (next, isScheduled) = old.releasingOneSimply() {
      assert(old.dependencyCount > 0, "a dependency was counted off twice")
      let result = state.compareExchange(
        expected: old.bits, desired: next.bits, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if result.exchanged {
        // An operation that is not scheduled here may be gone.
        if isScheduled { handover.addByLink(self, next) }
        return true
      }
      old = StateWord(bits: result.original)
    }
    return releaseInFull(edge: edge, into: &handover)
  }

  @inline(never)
  private final func releaseInFull(edge: UInt?, into handover: inout Handover) -> Bool {
    var old = stateNow
    // When no dependency is left and nobody is responsible for the start yet, a concurrent cancel() may start this
    // operation and let it go. When the operation's link is in use elsewhere, an older entry may do the same.
    let hold = old.has(StateWord.asksReady) || old.has(StateWord.linked) ? Operation.retained(word) : nil
    defer { withExtendedLifetime(hold) {} }
    while true {
      if let edge, old.has(StateWord.edgesRemoved), forgetRemoved(edge) { return true }
      assert(old.dependencyCount > 0, "a dependency was counted off twice")
      let (next, action) = old.releasingOne()
      if handover.putsOff(action, of: self, old) { return false }
      let result = state.compareExchange(
        expected: old.bits, desired: next.bits, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if result.exchanged {
        // After `.nothing` the operation may be gone.
        switch action {
        case .nothing: break
        case .schedule(let useLink):
          if next.has(StateWord.observed) { tellOfReadiness(&handover) }
          handover.add(self, useLink: useLink)
        case .askReady:
          if next.has(StateWord.observed) { tellOfReadiness(&handover) }
          if handover.asks == .here { askReady(into: &handover) } else { handover.collect(self) }
        case .leave:
          leaveQueue()
          Unmanaged.passUnretained(self).release()
        }
        return true
      }
      old = StateWord(bits: result.original)
    }
  }

  /// Tells observers also where the handover may not notify: an observer that came in the last instant would otherwise
  /// never be told.
  @inline(never)
  private final func tellOfReadiness(_ handover: inout Handover) {
    guard isReadinessObserved else { return }
    handover.flush(frame: nil)
    reportReadiness()
  }

  /// No dependency is left, but a subclass may have a condition of its own. No caller holds the subclass's locks; the
  /// thread that adds the operation is the exception.
  final func askReady(into handover: inout Handover) {
    while true {
      let before = StateWord(bits: state.bitwiseAnd(~StateWord.askAgain, ordering: .sequentiallyConsistent).newValue)
      guard canBeScheduled(before) else { return }
      let ready = before.has(StateWord.cancelled) || handover.asking { readIsReady() }
      let now = stateNow
      guard canBeScheduled(now) else { return }
      var next = now
      if ready || now.has(StateWord.cancelled) {
        let useLink = next.setScheduled()
        if replaceState(now, with: next) { return handover.add(self, useLink: useLink) }
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
