/// What one controlling thread does with a few queues and operations. Every list of statements is a valid program: the
/// executor leaves out a statement that would be misuse, or that would wait for what nothing will finish.
public struct Program: Equatable, Sendable {
  public var backends: [BackendSpec] = []
  public var queues: [QueueSpec] = []
  public var operations: [OperationSpec] = []
  public var statements: [Statement] = []

  public init() {}

  public struct BackendSpec: Equatable, Sendable {
    public var workers: Int
  }

  public struct QueueSpec: Equatable, Sendable {
    public var backend: Int
    /// -1: none.
    public var limit = -1
    public var isSuspended = false
  }

  public struct OperationSpec: Equatable, Sendable {
    public var kind: OperationKind
    /// What its body (or the first of its blocks) does, in this order.
    public var actions: [BodyAction] = []
  }
}

/// How an operation is written.
public enum OperationKind: Equatable, Hashable, Sendable {
  /// A `BlockOperation` with n blocks.
  case blocks(Int)
  /// A subclass that overrides `main()`.
  case main
  /// A closure given to the queue: nobody has the object.
  case closure
  /// An `AsynchronousOperation`.
  case asynchronous
  /// A subclass that overrides `start()`, `isExecuting` and `isFinished`, and posts their changes.
  case handWritten
  /// A subclass whose `isReady` has a condition of its own, which `flip` makes true.
  case conditional
  /// A `TaskOperation`: its body is suspended between its actions, and waits without a thread.
  case task

  public var endsLater: Bool { self == .asynchronous || self == .handWritten }
  public var blockCount: Int { if case .blocks(let count) = self { count } else { 1 } }
}

/// One step of a body. Operations and gates are named by their numbers.
public enum BodyAction: Equatable, Hashable, Sendable {
  case wait(Int)
  case add(Int, queue: Int)
  case cancel(Int)
  case finish(Int)
  case flip(Int)
  /// Blocks until the gate is open, without the library knowing.
  case pass(gate: Int)
  case open(gate: Int)
  /// Grows a tree of joins from the seed.
  case join(seed: Int)
  /// Makes a graph from the seed and runs it.
  case graph(seed: Int)
  /// Changes this operation's own priority.
  case raise(level: Int)
  /// Has a helper thread finish this operation.
  case finishByHelper
}

/// One step of the controlling thread.
public enum Statement: Equatable, Hashable, Sendable {
  case add(Int, queue: Int)
  /// `addOperations`; waits only when all of them will finish.
  case batch([Int], queue: Int, wait: Bool)
  case barrier(Int, queue: Int)
  case depend(Int, on: Int)
  case undepend(Int, on: Int)
  case cancel(Int)
  case cancelAll(queue: Int)
  case priority(Int, level: Int)
  case quality(Int, level: Int)
  case queueQuality(queue: Int, level: Int)
  case limit(queue: Int, Int)
  case suspend(queue: Int)
  case resume(queue: Int)
  case completion(Int)
  case observe(Int, ObservedKey)
  case observeQueue(queue: Int)
  /// An observer of the first one's `isReady` waits for the second one.
  case observeReadyAndWait(Int, on: Int)
  case open(gate: Int)
  case finish(Int)
  case flip(Int)
  /// `start()` by hand.
  case start(Int)
  case wait(Int)
  case waitQueue(queue: Int)
  /// Until the model says that nothing more can happen; then everything is compared.
  case settle
  /// Gives up the queue variable.
  case release(queue: Int)
}

/// What is observed of an operation.
public enum ObservedKey: String, CaseIterable, Sendable {
  case isCancelled, isExecuting, isFinished, isReady
}

extension Program {
  /// None of its bodies or observers ever blocks or has help: what one worker does, it does in one order.
  public var isCalm: Bool {
    let observersWait = statements.contains { if case .observeReadyAndWait = $0 { true } else { false } }
    return !observersWait
      && operations.allSatisfy { operation in
        operation.kind.blockCount == 1 && operation.kind != .task
          && operation.actions.allSatisfy {
            switch $0 {
            case .wait, .pass, .join, .graph: false
            default: true
            }
          }
      }
  }

  /// Whether a body waits for operations: the body lends them its priority, and so on, so nobody knows their levels.
  /// Where all have one level there is nothing to lend.
  public var raisesLevels: Bool {
    let hasLevels = statements.contains { statement in
      switch statement {
      case .priority, .quality, .queueQuality: true
      default: false
      }
    }
    let actions = operations.flatMap(\.actions)
    let hasRaises = actions.contains { if case .raise = $0 { true } else { false } }
    return (hasLevels || hasRaises) && actions.contains { if case .wait = $0 { true } else { false } }
  }

  /// Whether a body may wait for the other operation: never for an earlier one or for one that waits for it over some
  /// way, so that no circle of waits arises, and never for one behind a barrier. An asynchronous body with a place of a
  /// limit waits for nothing: when all bodies with a place wait for what needs one, the last one is told so.
  func mayWait(_ waiting: Int, for other: Int) -> Bool {
    guard waiting < other, operations[other].kind != .closure, !needs(other, waiting),
      operations[waiting].kind != .task || !queues(of: waiting).contains(where: mayBeLimited)
    else { return false }
    let queuesOfOther = queues(of: other)
    return !statements.contains { statement in
      if case .barrier(_, let queue) = statement { queuesOfOther.contains(queue) } else { false }
    }
  }

  /// The queues that may get the operation.
  private func queues(of index: Int) -> Set<Int> {
    Set(
      statements.compactMap { statement in statement.operations.contains(index) ? statement.queue : nil }
        + operations.flatMap { $0.actions.filter { $0.operations.contains(index) }.compactMap(\.queue) })
  }

  private func mayBeLimited(_ queue: Int) -> Bool {
    queues[queue].limit != -1 || statements.contains { if case .limit(queue, _) = $0 { true } else { false } }
  }

  /// Nothing in the program can hold the operation back once it was added: it does nothing itself, depends on nothing,
  /// and its queue runs whatever there is. Nor is it observed, so that nobody waits on the thread that starts or ends
  /// it.
  func isFree(_ index: Int) -> Bool {
    let operation = operations[index]
    guard operation.kind == .main || operation.kind == .blocks(1), operation.actions.isEmpty else { return false }
    let queuesOfIt = queues(of: index)
    let isHeld = statements.contains { statement in
      switch statement {
      case .depend(let waiting, _) where waiting == index: true
      case .observe(let observed, _) where observed == index: true
      case .observeReadyAndWait(let observed, _) where observed == index: true
      case .barrier(_, let queue), .limit(let queue, _), .suspend(let queue), .release(let queue):
        queuesOfIt.contains(queue)
      default: false
      }
    }
    let passes = operations.contains { $0.actions.contains { if case .pass = $0 { true } else { false } } }
    return !isHeld && !passes && queuesOfIt.allSatisfy { queues[$0].limit == -1 && !queues[$0].isSuspended }
  }

  /// A queue that nothing holds back.
  var freeQueue: Int? {
    queues.indices.first { queue in
      queues[queue].limit == -1 && !queues[queue].isSuspended
        && !statements.contains { statement in
          switch statement {
          case .barrier(_, queue), .limit(queue, _), .suspend(queue), .release(queue): true
          default: false
          }
        }
    }
  }

  /// Whether the first one may come to wait for the second one, by dependencies and waits.
  private func needs(_ first: Int, _ second: Int) -> Bool {
    var seen: Set<Int> = [first]
    var open = [first]
    while let next = open.popLast() {
      if next == second { return true }
      for statement in statements {
        if case .depend(next, let other) = statement, seen.insert(other).inserted { open.append(other) }
      }
      for case .wait(let other) in operations[next].actions where seen.insert(other).inserted { open.append(other) }
    }
    return false
  }
}
