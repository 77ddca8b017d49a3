// Idioms of public code, written for Foundation: apart from the import, nothing here knows of another library.

import Glibc

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// The names of the idioms, and what each does with a log.
let namedIdioms: [(name: String, run: @Sendable (Log) -> Void)] = [
  ("advanced-operations", advancedOperations), ("group-with-inner-queue", groupWithInnerQueue),
  ("retry", retry), ("repeat-calls-super-start", repeatThroughSuperStart),
  ("guarded-cancel", { cancelOne(in: $0, GuardedCancel.init) }),
  ("cancel-notes-reason", { cancelOne(in: $0, ReasonCancel.init) }),
  ("empty-cancel", { cancelOne(in: $0, EmptyCancel.init) }),
  ("guarded-cancel-all", { cancelAll(in: $0, GuardedCancel.init) }),
  ("cancel-notes-reason-all", { cancelAll(in: $0, ReasonCancel.init) }),
  ("empty-cancel-all", { cancelAll(in: $0, EmptyCancel.init) }),
  ("ready-in-no-queue", readyInNoQueue), ("finish-once", finishOnce),
]

/// Waits until a condition holds; the limit is a safety net, and short where the condition may never hold.
func settle(_ seconds: Double = 2, until condition: () -> Bool) {
  for _ in 0..<Int(seconds * 1000) where !condition() { usleep(1000) }
}

/// The state machine of Apple's sample: one stored state, posted as "state" and as the two keys that depend on it. The
/// conditions are evaluated before the operation is ready; the work ends when finish() is called.
class StateOperation: Operation, @unchecked Sendable {
  enum State: Int { case initialized, pending, evaluating, ready, executing, finishing, finished }
  private let serial = DispatchQueue(label: "StateOperation.state")
  private var _state = State.initialized
  private var hasFinished = false
  let log: Log

  init(_ log: Log) {
    self.log = log
    super.init()
  }

  var state: State {
    get { serial.sync { _state } }
    set {
      for key in ["isReady", "isExecuting", "isFinished"] { willChangeValue(forKey: key) }
      serial.sync { _state = newValue }
      for key in ["isReady", "isExecuting", "isFinished"] { didChangeValue(forKey: key) }
    }
  }

  override var isReady: Bool { state == .ready && super.isReady || isCancelled }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  func evaluateConditions() {
    state = .evaluating
    log.note("evaluated")
    state = .ready
  }

  override final func start() {
    super.start()
    if isCancelled { finish() }
  }

  override final func main() {
    if isCancelled {
      finish()
    } else {
      state = .executing
      execute()
    }
  }

  func execute() { finish() }

  final func finish() {
    guard
      serial.sync(execute: { () -> Bool in
        defer { hasFinished = true }
        return !hasFinished
      })
    else { return }
    state = .finishing
    log.note("finishing")
    state = .finished
  }
}

final class LaterStateOperation: StateOperation, @unchecked Sendable {
  let inner = Gate()
  override func execute() {
    log.note("execute")
    DispatchQueue.global().async { [self] in
      usleep(20_000)
      log.note("done", of: "work")
      finish()
    }
  }
}

@Sendable func advancedOperations(_ log: Log) {
  let queue = OperationQueue()
  let operation = LaterStateOperation(log)
  let next = BlockOperation { log.note(operation.isFinished ? "after-its-end" : "before-its-end", of: "dependent") }
  next.addDependency(operation)
  queue.addOperations([operation, next], waitUntilFinished: false)
  operation.evaluateConditions()
  settle { next.isFinished && queue.operationCount == 0 && log.has("done", of: "work") }
}

/// A group keeps an inner, suspended queue, and ends with a last operation of that queue.
final class GroupOfSteps: StateOperation, @unchecked Sendable {
  private let inner = OperationQueue()
  override func execute() {
    log.note("group-executes")
    let steps = (1...3).map { number in BlockOperation { [log] in log.note("\(number)", of: "steps") } }
    let last = BlockOperation { [self] in finish() }
    inner.maxConcurrentOperationCount = 1
    inner.isSuspended = true
    for step in steps {
      last.addDependency(step)
      inner.addOperation(step)
    }
    inner.addOperation(last)
    inner.isSuspended = false
  }
}

@Sendable func groupWithInnerQueue(_ log: Log) {
  let queue = OperationQueue()
  let group = GroupOfSteps(log)
  let next = BlockOperation { log.note(log.has("3", of: "steps") ? "after-the-steps" : "too-early", of: "dependent") }
  next.addDependency(group)
  queue.addOperations([group, next], waitUntilFinished: false)
  group.evaluateConditions()
  settle { next.isFinished && log.has("3", of: "steps") && queue.operationCount == 0 }
}

/// A job of a job queue: tries again after main() has returned, up to a number of times.
class JobOperation: Operation, @unchecked Sendable {
  private let serial = DispatchQueue(label: "JobOperation.flags")
  private var _executing = false
  private var _finished = false
  private var attempt = 0
  let log: Log

  init(_ log: Log) {
    self.log = log
    super.init()
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { serial.sync { _executing } }
  override var isFinished: Bool { serial.sync { _finished } }

  private func set(executing: Bool, finished: Bool) {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    serial.sync {
      _executing = executing
      _finished = finished
    }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }

  override func main() {
    set(executing: true, finished: false)
    tryOnce()
  }

  private func tryOnce() {
    attempt += 1
    log.note("attempt-\(attempt)")
    if attempt == 3 {
      set(executing: false, finished: true)
    } else {
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { [self] in tryOnce() }
    }
  }
}

final class SuperStartingJob: JobOperation, @unchecked Sendable {
  override func start() {
    log.note("start")
    super.start()
  }
}

func runJob(_ operation: JobOperation, _ log: Log) {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  queue.addOperation(operation)
  queue.addOperation { log.note(log.has("attempt-3") ? "after-the-retries" : "too-early", of: "next") }
  settle { queue.operationCount == 0 && log.has("attempt-3") }
}

@Sendable func retry(_ log: Log) { runJob(JobOperation(log), log) }
@Sendable func repeatThroughSuperStart(_ log: Log) { runJob(SuperStartingJob(log), log) }

/// An operation whose body waits for its task, which cancel() stops.
class TaskOperation: Operation, @unchecked Sendable {
  let log: Log
  let begun = Gate()
  let stopped = Gate()
  init(_ log: Log) {
    self.log = log
    super.init()
  }
  override func main() {
    log.note("main")
    begun.open()
    log.note(stopped.pass(0.5) ? "stopped" : "never-stopped")
  }
}

final class GuardedCancel: TaskOperation, @unchecked Sendable {
  override func cancel() {
    guard !isCancelled else { return }
    super.cancel()
    stopped.open()
  }
}

final class ReasonCancel: TaskOperation, @unchecked Sendable {
  private var reason = "none"
  override func main() {
    super.main()
    log.note("reason-\(reason)")
  }
  override func cancel() {
    reason = "user"
    super.cancel()
    stopped.open()
  }
}

final class EmptyCancel: TaskOperation, @unchecked Sendable {
  override func main() {
    super.main()
    log.note(isCancelled ? "flagged" : "not-flagged")
  }
  override func cancel() { stopped.open() }
}

func cancelOne(in log: Log, _ make: (Log) -> TaskOperation) {
  let queue = OperationQueue()
  let operation = make(log)
  queue.addOperation(operation)
  operation.begun.pass()
  operation.cancel()
  settle { queue.operationCount == 0 }
}

func cancelAll(in log: Log, _ make: (Log) -> TaskOperation) {
  let queue = OperationQueue()
  let operation = make(log)
  queue.addOperation(operation)
  operation.begun.pass()
  queue.cancelAllOperations()
  settle { queue.operationCount == 0 }
}

/// In no queue: the read of isReady, when the last dependency has finished, starts work of the class's own.
final class EvaluatesOnRead: Operation, @unchecked Sendable {
  let log: Log
  init(_ log: Log) {
    self.log = log
    super.init()
  }
  override var isReady: Bool {
    let isReady = super.isReady
    if isReady, !log.has("conditions-evaluated", of: "read") { log.note("conditions-evaluated", of: "read") }
    return isReady
  }
}

@Sendable func readyInNoQueue(_ log: Log) {
  let queue = OperationQueue()
  let operation = EvaluatesOnRead(log)
  let dependency = BlockOperation { log.note("ran", of: "dependency") }
  operation.addDependency(dependency)
  queue.addOperation(dependency)
  settle(1) { dependency.isFinished && log.has("conditions-evaluated", of: "read") }
}

/// Two ways to the end; a flag lets the first one through.
@Sendable func finishOnce(_ log: Log) {
  let queue = OperationQueue()
  let operation = LaterStateOperation(log)
  queue.addOperation(operation)
  operation.evaluateConditions()
  settle { log.has("execute") }
  operation.cancel()
  operation.finish()
  operation.finish()
  settle { queue.operationCount == 0 && log.has("done", of: "work") }
}
