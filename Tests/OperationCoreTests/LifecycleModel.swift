@testable import OperationCore

/// One operation and everything around it that can change its word, as a value: what stands in lists, who is running
/// it, which edges are linked. A step is one compare-exchange of the real protocol, applied to the real `StateWord`.
struct LifecycleModel: Hashable {
  enum Running: Hashable {
    case nobody, byLink, other
    /// It finished the long way; its launch has the link to give back.
    case returning
  }

  /// Where an entry is: in a backend, where it must ask, or in the controller's lists.
  enum Entry: Hashable { case none, backend, controller }

  enum Step: Hashable, CaseIterable {
    case releaseEdge, releaseOwnCount, cancel, changePriority, addDependency, engage, post, examine, waiterClaims
    case takeLink, takeMoved, takeStale, finish, returnLink, finishEarly
  }

  /// What the outside world may still do: bounds the search.
  struct Budget: Hashable {
    var cancels = 1
    var priorityChanges = 2
    var lateDependencies = 1
    var engagements = 1
    var posts = 1
    var waiters = 1
    var earlyFinishes = 1
  }

  var bits: UInt64
  var link = Entry.none
  /// The newest `MovedEntry`, and one that a newer replaced.
  var moved = Entry.none
  var hasStale = false
  var running = Running.nobody
  var edges: Int
  var hasOwnCount = true
  var examinations = 0
  var budget: Budget
  /// What happened.
  var starts = 0
  var skips = 0
  var leaves = 0

  /// Listed in a queue, its dependencies linked, the queue's own count not yet taken away.
  init(edges: Int, budget: Budget) {
    bits = StateWord(StateWord.enqueued, StateWord.listed, count: UInt64(edges) + 1).bits
    self.edges = edges
    self.budget = budget
  }

  var word: StateWord { StateWord(bits: bits) }

  // MARK: - Steps

  /// The state after the step; nil when it is not possible now.
  func after(_ step: Step) -> LifecycleModel? {
    var next = self
    return next.take(step) ? next : nil
  }

  private mutating func take(_ step: Step) -> Bool {
    switch step {
    case .releaseEdge: return edges > 0 && release { $0.edges -= 1 }
    case .releaseOwnCount: return hasOwnCount && release { $0.hasOwnCount = false }
    case .cancel: return spend(\.cancels) && cancel()
    case .changePriority: return spend(\.priorityChanges) && changePriority()
    case .addDependency: return spend(\.lateDependencies) && addDependency()
    case .engage: return spend(\.engagements) && set(StateWord.tracked)
    case .post: return spend(\.posts) && post()
    case .examine: return examine()
    case .waiterClaims: return spend(\.waiters) && claimForWaiter()
    case .takeLink: return takeLink()
    case .takeMoved: return takeMoved()
    case .takeStale:
      // Void by its generation: the word is not even looked at.
      defer { hasStale = false }
      return hasStale
    case .finish: return finish()
    case .returnLink: return returnLink()
    case .finishEarly: return !word.has(StateWord.started) && spend(\.earlyFinishes) && finishTheLongWay()
    }
  }

  private mutating func spend(_ part: WritableKeyPath<Budget, Int>) -> Bool {
    budget[keyPath: part] -= 1
    return budget[keyPath: part] >= 0
  }

  private mutating func set(_ flags: UInt64) -> Bool {
    bits |= flags
    return true
  }

  private mutating func schedule(useLink: Bool) {
    let place = word.has(StateWord.tracked) ? Entry.controller : .backend
    if useLink {
      link = place
    } else {
      if moved != .none { hasStale = true }
      moved = place
    }
  }

  private mutating func release(_ forget: (inout LifecycleModel) -> Void) -> Bool {
    let (next, action) = word.releasingOne()
    bits = next.bits
    forget(&self)
    switch action {
    case .nothing, .askReady: break
    case .schedule(let useLink): schedule(useLink: useLink)
    case .leave: leaves += 1
    }
    return true
  }

  private mutating func cancel() -> Bool {
    guard let (next, isScheduled, useLink) = word.cancelling() else { return true }
    bits = next.bits
    if isScheduled { schedule(useLink: useLink) }
    return true
  }

  private mutating func changePriority() -> Bool {
    guard word.movesOnPriorityChange else { return true }
    bits |= StateWord.moved
    schedule(useLink: false)
    return true
  }

  private mutating func addDependency() -> Bool {
    guard !word.has(StateWord.started), !word.has(StateWord.finished) else { return true }
    bits += StateWord.oneDependency
    edges += 1
    return true
  }

  private mutating func post() -> Bool {
    guard !word.has(StateWord.examinePending), !word.has(StateWord.finished) else { return true }
    bits |= StateWord.examinePending
    examinations += 1
    return true
  }

  private mutating func examine() -> Bool {
    guard examinations > 0 else { return false }
    examinations -= 1
    bits &= ~StateWord.examinePending
    if word.mayLeave { leaves += 1 }
    return true
  }

  private mutating func claimForWaiter() -> Bool {
    guard let next = word.claimingForWaiter(queueCancelled: false) else { return true }
    bits = next.bits
    begin(.other, skipped: next.has(StateWord.skipped))
    return true
  }

  private mutating func begin(_ who: Running, skipped: Bool) {
    running = who
    starts += 1
    if skipped { skips += 1 }
  }

  private mutating func takeLink() -> Bool {
    guard link != .none else { return false }
    let (next, claim) = word.claiming(byLink: true, admitted: link == .controller, queueCancelled: false)
    bits = next.bits
    switch claim {
    case .divert: link = .controller
    case .drop(let leave):
      link = .none
      if leave { leaves += 1 }
    case .start, .skip:
      link = .none
      begin(.byLink, skipped: claim == .skip)
    }
    return true
  }

  private mutating func takeMoved() -> Bool {
    guard moved != .none else { return false }
    let (next, claim) = word.claiming(byLink: false, admitted: moved == .controller, queueCancelled: false)
    bits = next.bits
    switch claim {
    case .divert: moved = .controller
    case .drop(let leave):
      moved = .none
      if leave { leaves += 1 }
    case .start, .skip:
      moved = .none
      begin(.other, skipped: claim == .skip)
    }
    return true
  }

  private mutating func finish() -> Bool {
    switch running {
    case .nobody, .returning: return false
    case .other:
      running = .nobody
      return finishTheLongWay()
    case .byLink:
      if let next = word.finishingAndLeaving() {
        bits = next.bits
        running = .nobody
        leaves += 1
        return true
      }
      running = .returning
      return finishTheLongWay()
    }
  }

  private mutating func finishTheLongWay() -> Bool {
    guard !word.has(StateWord.finished) else { return true }
    bits |= StateWord.finished | StateWord.started
    if word.mayLeave { leaves += 1 }
    return true
  }

  private mutating func returnLink() -> Bool {
    guard running == .returning else { return false }
    running = .nobody
    bits &= ~StateWord.linked
    if word.mayLeave { leaves += 1 }
    return true
  }
}
