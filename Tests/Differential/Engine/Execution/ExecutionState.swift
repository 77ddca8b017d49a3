import DeterministicOperations
import OperationForks
import OperationJobs
import Operations
import TestSupport

/// The objects of one program, shared by the controlling thread, the bodies and the observers.
final class ExecutionState: Sendable {
  struct Objects {
    /// Nil: a closure, or given up.
    var operations: [Operation?]
    var queues: [OperationQueue?]
    /// Somebody adds it, or starts it by hand.
    var taken: Set<Int> = []
    var added: Set<Int> = []
    var began: Set<Int> = []
    var finishing: Set<Int> = []
    var isOver = false
  }

  let program: Program
  /// Each once.
  private let supervised: [any SupervisedBackend]
  let journal = Journal()
  let objects: Monitor<Objects>
  let gates: [Gate]
  /// For each gate a second one, at which tasks wait. Both are opened together.
  private let taskGates: [AsyncGate]
  /// The operations in whose bodies each thread is, the innermost last.
  private let bodies = Monitor<[UInt: [Int]]>([:])
  let helper: Helper
  /// The backend of all queues, when the program runs in an order that can be replayed: then nothing here sleeps in
  /// something that the backend does not know.
  let schedule: DeterministicBackend?
  private let queueNumbers: [ObjectIdentifier: Int]
  let queueCount: Int

  init(_ program: Program, backends: [any Backend], helper: Helper, schedule: DeterministicBackend? = nil) {
    self.program = program
    self.schedule = schedule
    supervised = backends.reduce(into: []) { supervised, backend in
      guard let backend = backend as? any SupervisedBackend, !supervised.contains(where: { $0 === backend }) else {
        return
      }
      supervised.append(backend)
    }
    self.helper = helper
    gates = (0..<Program.gateCount).map { _ in Gate() }
    taskGates = (0..<Program.gateCount).map { _ in AsyncGate() }
    let queues = program.queues.map { spec in
      let queue = OperationQueue(backend: backends[spec.backend])
      if spec.limit >= 0 { queue.maxConcurrentOperationCount = spec.limit }
      if spec.isSuspended { queue.isSuspended = true }
      return queue
    }
    queueCount = queues.count
    queueNumbers = Dictionary(
      uniqueKeysWithValues: queues.enumerated().map { (ObjectIdentifier($0.element), $0.offset) })
    objects = Monitor(Objects(operations: [], queues: queues))
    let operations = program.operations.indices.map(makeOperation)
    objects.with { $0.operations = operations }
  }

  func operation(_ index: Int) -> Operation? { objects.with { $0.operations[index] } }
  func queue(_ index: Int) -> OperationQueue? { objects.with { $0.queues[index] } }

  /// The number of the current queue; -1 for none, -2 for one that is not of this program.
  var current: Int {
    guard let queue = OperationQueue.current else { return -1 }
    return queueNumbers[ObjectIdentifier(queue)] ?? -2
  }

  func isAdded(_ index: Int) -> Bool { objects.with { $0.added.contains(index) } }

  /// Each may be added or started once.
  func take(_ index: Int) -> Bool { objects.with { !$0.isOver && $0.taken.insert(index).inserted } }

  /// Each may be finished once, after its body has begun.
  func takeFinish(_ index: Int) -> Bool {
    guard program.operations[index].kind.endsLater else { return false }
    return objects.with { $0.began.contains(index) && $0.finishing.insert(index).inserted }
  }

  private func makeOperation(_ index: Int) -> Operation? {
    switch program.operations[index].kind {
    case .blocks(let count):
      let operation = BlockOperation { [self] in run(index, block: 0) }
      for block in 1..<max(1, count) { operation.addExecutionBlock { [self] in run(index, block: block) } }
      return operation
    case .closure: return nil
    case .main: return PlainProgramOperation(self, index)
    case .conditional: return ConditionalProgramOperation(self, index)
    case .asynchronous: return AsynchronousOperation { [self] _ in run(index, block: 0) }
    case .handWritten: return HandWrittenProgramOperation(self, index)
    case .task: return TaskOperation { [self] in await runAsTask(index) }
    }
  }

  // MARK: - Bodies

  func run(_ index: Int, block: Int) {
    let thread = currentThread()
    let outer = bodies.with {
      let outer = $0[thread]?.last
      $0[thread, default: []].append(index)
      return outer
    }
    defer {
      bodies.with {
        $0[thread]?.removeLast()
        if outer == nil { $0[thread] = nil }
      }
    }
    journal.append(.bodyBegins(index, block: block, current: current, inside: outer))
    objects.with { _ = $0.began.insert(index) }
    if block == 0 { for action in program.operations[index].actions { perform(action, in: index) } }
    journal.append(.bodyEnds(index, block: block, inside: outer))
  }

  private func runAsTask(_ index: Int) async {
    journal.append(.bodyBegins(index, block: 0, current: current))
    objects.with { _ = $0.began.insert(index) }
    for action in program.operations[index].actions {
      switch action {
      case .wait(let other): await wait(for: other, inTask: index)
      case .pass(let gate):
        journal.append(.passBegins(index, gate: gate))
        await taskGates[gate].pass()
        journal.append(.passEnded(index, gate: gate))
      default:
        await Task.yield()
        perform(action, in: index)
      }
    }
    journal.append(.bodyEnds(index, block: 0))
  }

  private func wait(for other: Int, inTask index: Int) async {
    guard program.mayWait(index, for: other), let operation = operation(other) else { return }
    journal.append(.waitBegins(index, on: other))
    let isFinished = await operation.finished()
    journal.append(isFinished ? .waitEnded(index, on: other) : .waitLeft(index, on: other))
  }

  /// Whether more of the backends' threads have a job than are in a body: then a finish may be under way. False for a
  /// backend that does not tell of its threads.
  var hasThreadsOutsideBodies: Bool {
    let inBodies = bodies.with { $0.count }
    return supervised.reduce(0) { $0 + $1.report.threads.count(where: \.isBusy) } > inBodies
  }

  private func perform(_ action: BodyAction, in index: Int) {
    switch action {
    case .wait(let other):
      guard program.mayWait(index, for: other), let operation = operation(other) else { return }
      journal.append(.waitBegins(index, on: other))
      operation.waitUntilFinished()
      journal.append(.waitEnded(index, on: other))
    case .pass(let gate):
      journal.append(.passBegins(index, gate: gate))
      if let schedule { schedule.waitUntil { gates[gate].isOpen } } else { gates[gate].pass() }
      journal.append(.passEnded(index, gate: gate))
    case .open(let gate): open(gate)
    case .join(let seed): growTree(seed, in: index)
    case .graph(let seed):
      journal.append(.graphRan(index, seed: seed, ProgramGraph(seed: seed).run { [self] in current }))
    case .raise(let level): raise(index, to: level)
    case .add(let other, let queue):
      guard let place = self.queue(queue), take(other) else { return }
      add([other], to: place, number: queue)
    case .cancel(let other): cancel(other)
    case .finish(let other): if takeFinish(other) { finish(other) }
    case .flip(let other): flip(other)
    case .finishByHelper:
      guard takeFinish(index) else { return }
      journal.append(.helperAsked(index))
      if let schedule {
        schedule.after(.zero) { [self] in finish(index) }
      } else {
        helper.post { [self] in finish(index) }
      }
    }
  }

  private func growTree(_ seed: Int, in index: Int) {
    let currents = Monitor<Set<Int>>([])
    let sights = Monitor<Set<ForkTree.Sight>>([])
    let around = ForkTree.name
    // In the middle, while others may have forks of the tree.
    let raises = Program.treeRaises(seed) ? Counter() : nil
    let result = ForkTree.$name.withValue(Program.nameAround(seed)) {
      TreeResult { () throws(ForkTree.Failure) in
        try ForkTree(programSeed: seed).joined(seesName: { sight in sights.with { _ = $0.insert(sight) } }) { _ in
          currents.with { _ = $0.insert(current) }
          if raises?.increment() == 2 { raise(index, to: seed % 5) }
        }
      }
    }
    journal.append(
      .joined(index, seed: seed, result, currents: currents.value, around: around, sights: sights.value))
  }

  /// The operation of the body changes its own priority. (Two threads that set one priority at the same time leave open
  /// which is the last.)
  private func raise(_ index: Int, to level: Int) {
    operation(index)?.queuePriority = Operation.QueuePriority(level: level)
  }

  // MARK: - What both bodies and the controlling thread do

  func open(_ gate: Int) {
    journal.append(.gateOpens(gate))
    gates[gate].open()
    taskGates[gate].open()
  }

  /// One operation, which the caller has taken.
  func add(_ indices: [Int], to queue: OperationQueue, number: Int) {
    journal.append(.addBegins(indices, queue: number, isBarrier: false))
    if let operation = operation(indices[0]) {
      queue.addOperation(operation)
    } else {
      queue.addOperation(closure(indices[0]))
    }
    journal.append(.addEnded(indices, queue: number))
    objects.with { $0.added.formUnion(indices) }
  }

  /// The body of an operation that nobody has; it says when it is released.
  func closure(_ index: Int) -> @Sendable () -> Void {
    let mark = ReleaseMark { [journal] in journal.append(.closureReleased(index)) }
    return { [self] in withExtendedLifetime(mark) { run(index, block: 0) } }
  }

  func cancel(_ index: Int) {
    guard let operation = operation(index) else { return }
    journal.append(.cancelBegins(index))
    operation.cancel()
    journal.append(.cancelEnded(index, seenStarted: operation.isExecuting || operation.isFinished))
  }

  func finish(_ index: Int) {
    let operation = operation(index)
    journal.append(.finishBegins(index))
    (operation as? AsynchronousOperation)?.finish()
    (operation as? HandWrittenProgramOperation)?.end()
    journal.append(.finishEnded(index))
  }

  func flip(_ index: Int) {
    guard let operation = operation(index) as? ConditionalProgramOperation else { return }
    journal.append(.flipBegins(index))
    operation.satisfy()
    journal.append(.flipEnded(index))
  }
}

/// Says when it is released.
private final class ReleaseMark: Sendable {
  private let tell: @Sendable () -> Void
  init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }
  deinit { tell() }
}

extension Program {
  static let gateCount = 3

  /// Whether an operation changes its priority in the middle of the tree.
  static func treeRaises(_ seed: Int) -> Bool { seed % 4 == 0 }

  /// What is bound around the tree; 0 for nothing that can be told from nothing.
  static func nameAround(_ seed: Int) -> UInt64 { seed % 2 == 0 ? 0 : UInt64(seed) }
}

typealias TreeResult = Result<UInt64, ForkTree.Failure>

extension ForkTree {
  /// The tree of the action `join`.
  init(programSeed seed: Int) { self.init(seed: UInt64(seed), depth: seed % 8, mayThrow: seed % 3 == 0) }
}
