import OperationJobs
import Primitives
import Synchronization

/// A body would wait for itself, directly or through others, and would never finish.
public struct CircularWait: Error, Hashable, CustomStringConvertible {
  /// Class, address and name of each operation: the one whose body waits, what it waits for, and so on, back to the
  /// first one.
  public let operations: [String]

  package init(operations: [String]) { self.operations = operations }

  public var description: String {
    let rest = operations.dropFirst().map { " waits for \($0)" }.joined(separator: ", which")
    return "\(operations.first ?? "an operation")\(rest): none of them would ever finish"
  }
}

/// A body awaits an operation, from `begin` to `end`.
package struct AwaitMark {
  private let run: TaskRun
  private let awaited: Operation

  /// Called in the task that is about to wait for something that the end of `awaited` brings.
  /// - Returns: nil where the task is not of the body of an operation.
  static func begin(_ awaited: Operation) throws(CircularWait) -> AwaitMark? {
    guard let run = TaskRun.current, let waiting = run.operationNow else { return nil }
    run.begins(waiting, awaiting: awaited)
    // Each of two that begin at the same time raises the other's flag, and then reads its own: one of the two sees the
    // circle.
    awaited.raise(StateWord.hasDependents)
    if let circle = WaitSearch.circle(of: waiting, isMember: waiting.isMember, waitingFor: [awaited]) {
      run.ends(awaiting: awaited)
      throw circle
    }
    return AwaitMark(run: run, awaited: awaited)
  }

  package func end() { run.ends(awaiting: awaited) }
}

extension Operation {
  /// The calling task is about to wait, in a way of its own, for something that the end of this operation brings.
  /// - Returns: nil where the task is not of the body of an operation. The caller ends the mark when the wait has
  ///   ended.
  package final func beginAwait() throws(CircularWait) -> AwaitMark? { try AwaitMark.begin(self) }

  /// This operation, whose body is asynchronous, finishes behind all operations of `members`.
  package final func finishes(behind members: OperationQueue) {
    members.becomeMembers()
    bodyRun?.setMembers(members)
  }
}

/// Looks whether a wait leads back to the operation whose body waits.
///
/// An operation that has not started waits for its dependencies, for what barriers put before it, and for a place. One
/// whose asynchronous body runs waits for what the body and its child tasks await, and for the members of its group.
/// One that waits for any of several waits for the first one who makes room: a place of a limit leads back only if each
/// place does.
struct WaitSearch {
  private enum Answer {
    case leadsBack
    /// The operation is being looked at already. Alone that is another circle, of which the waiting operation is no
    /// part.
    case isOpen
    case ends
  }

  /// An operation that is being looked at: what it waits for, and then, if it needs a place, who holds the places.
  private struct Step {
    let operation: Operation
    let needsPlace: Bool
    var others: [Operation]
    private var looked = 0
    private var isAtPlaces = false
    private(set) var answer = Answer.ends

    init(operation: Operation, needsPlace: Bool, others: [Operation]) {
      (self.operation, self.needsPlace, self.others) = (operation, needsPlace, others)
    }

    /// The next one to be looked at; nil when the answer is known.
    mutating func next() -> Operation? {
      guard looked < others.count else { return nil }
      looked += 1
      return others[looked - 1]
    }

    /// What was found of the one that was looked at last. Any of the others leads back; of the places each must.
    mutating func take(_ found: Answer) {
      switch found {
      case .leadsBack:
        answer = .leadsBack
        if !isAtPlaces { looked = others.count }
      case .isOpen: if !isAtPlaces { answer = .isOpen }
      case .ends:
        guard isAtPlaces else { return }
        answer = .ends
        looked = others.count
      }
    }

    /// Whether it also depends on those that hold the places.
    mutating func turnsToPlaces() -> Bool {
      guard needsPlace, !isAtPlaces, answer == .ends else { return false }
      isAtPlaces = true
      guard let queue = operation.owner, case let limit = queue.maximumNow, limit > 0, queue.awaitingBodies >= limit
      else {
        return false
      }
      let holders = queue.snapshot().filter { $0.stateNow.isExecuting }
      guard holders.count >= limit else { return false }
      (others, looked, answer) = (holders, 0, .isOpen)
      return true
    }
  }

  /// Operations that are looked at. A longer circle is not found.
  private static let most = 1000

  private let waiting: Operation
  private var order = BarrierOrder()
  private var looked = 0
  private var steps: [Step] = []
  private var open: Set<ObjectIdentifier> = []
  private var ended: Set<ObjectIdentifier> = []
  /// From the end to the first one.
  private var path: [Operation] = []

  private init(_ waiting: Operation) { self.waiting = waiting }

  /// - Parameters:
  ///   - isMember: whether a group finishes behind `waiting`.
  ///   - awaited: what `waiting` waits for, all of it.
  static func circle(
    of waiting: Operation, isMember: Bool, waitingFor awaited: @autoclosure () -> [Operation]
  ) -> CircularWait? {
    guard isMember || waiting.mayBeAwaited else { return nil }
    var search = WaitSearch(waiting)
    for first in awaited() where search.look(at: first) == .leadsBack {
      return CircularWait(operations: ([waiting] + search.path.reversed()).map(\.label))
    }
    return nil
  }

  /// Nothing recurses: a thread may have a small stack.
  private mutating func look(at first: Operation) -> Answer {
    var answer = begin(first)
    while let last = steps.indices.last {
      if let answer { steps[last].take(answer) }
      if let next = steps[last].next() {
        answer = begin(next)
      } else if steps[last].turnsToPlaces() {
        answer = nil
      } else {
        answer = end(steps.removeLast())
      }
    }
    return answer ?? .ends
  }

  /// - Returns: nil when the operation waits for something: a step was added for it.
  private mutating func begin(_ operation: Operation) -> Answer? {
    if operation === waiting {
      path = [operation]
      return .leadsBack
    }
    let now = operation.stateNow
    if now.has(StateWord.finished) { return .ends }
    let others = waits(of: operation, now)
    let needsPlace = now.has(StateWord.tracked) && !now.has(StateWord.started)
    // Most operations wait for nothing: no memory is needed for those.
    if others.isEmpty, !needsPlace { return .ends }
    let id = ObjectIdentifier(operation)
    if ended.contains(id) { return .ends }
    if open.contains(id) { return .isOpen }
    looked += 1
    if looked > Self.most { return .ends }
    open.insert(id)
    steps.append(Step(operation: operation, needsPlace: needsPlace, others: others))
    return nil
  }

  private mutating func end(_ step: Step) -> Answer {
    let id = ObjectIdentifier(step.operation)
    open.remove(id)
    switch step.answer {
    case .leadsBack: path.append(step.operation)
    case .isOpen: break
    case .ends: ended.insert(id)
    }
    return step.answer
  }

  private mutating func waits(of operation: Operation, _ now: StateWord) -> [Operation] {
    var others = operation.bodyRun?.awaitedNow ?? []
    if !now.has(StateWord.started) {
      // One that was cancelled does not wait for dependencies, but for barriers.
      if !now.has(StateWord.cancelled), now.dependencyCount > 0 { others += operation.dependencySnapshot() }
      if now.has(StateWord.tracked) { others += order.predecessors(of: operation) }
    }
    return others
  }
}

extension Operation {
  /// Whether anything may wait for this operation: then a wait of its body may lead back.
  fileprivate final var mayBeAwaited: Bool {
    // Read behind the flag of what this operation is about to await: see `AwaitMark.begin`.
    let now = StateWord(bits: state.load(ordering: .sequentiallyConsistent))
    return now.has(StateWord.hasDependents) || now.has(StateWord.tracked)
  }

  /// Whether a group finishes behind this operation, whose asynchronous body runs.
  final var isMember: Bool { owner?.isOfMembers == true }
}

extension LaunchFrame {
  /// Traps when the wait of a thread leads back to the operation that the thread runs. In a part the thread may run
  /// another task.
  static func checkWait(in frame: UnsafeMutablePointer<LaunchFrame>, for awaited: Operation) {
    let (word, queue) = (frame.pointee.operation, frame.pointee.queue)
    guard word != 0, frame.pointee.isOfThisTask(inFork: false) else { return }
    // The queue is there as long as the frame is: nothing of the operation is written, as asking for its owner would.
    let isMember = queue != 0 && OperationQueue.unmanaged(queue)._withUnsafeGuaranteedRef { $0.isOfMembers }
    Operation.unmanaged(word)._withUnsafeGuaranteedRef { waiting in
      if let circle = WaitSearch.circle(of: waiting, isMember: isMember, waitingFor: [awaited]) {
        misuse(waiting, "\(circle)")
      }
    }
  }
}
