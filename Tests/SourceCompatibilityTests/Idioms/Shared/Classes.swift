// Written for Foundation: apart from the import, nothing in this file knows of another library.

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// What all generated classes have: a body that tells when it runs, and flags of its own.
class Recorded: Operation, @unchecked Sendable {
  let plan: Case
  let log: Log
  let entered = Gate()
  let mayLeave = Gate()
  let left = Gate()
  private let flags = DispatchQueue(label: "Recorded.flags")
  private var _executing = false
  private var _finished = false
  private var _condition = false
  private var _reason = "none"

  init(_ plan: Case, _ log: Log) {
    self.plan = plan
    self.log = log
    super.init()
  }

  override var isAsynchronous: Bool { plan.isAsynchronous }

  var storedExecuting: Bool { flags.sync { _executing } }
  var storedFinished: Bool { flags.sync { _finished } }
  var condition: Bool { flags.sync { _condition } }
  var reason: String { flags.sync { _reason } }

  func meetCondition() {
    flags.sync { _condition = true }
    didChangeValue(forKey: "isReady")
  }

  private func change(_ key: String, _ change: () -> Void) {
    switch plan.posting {
    case .around:
      willChangeValue(forKey: key)
      change()
      didChangeValue(forKey: key)
    case .before:
      willChangeValue(forKey: key)
      didChangeValue(forKey: key)
      change()
    case .after:
      change()
      didChangeValue(forKey: key)
    case .never: change()
    }
  }

  func begin() {
    if plan.states == .executing || plan.states == .both { change("isExecuting") { flags.sync { _executing = true } } }
  }

  /// Ends once, by a flag of the class.
  func end() {
    guard flags.sync(execute: { () -> Bool in !_finished }) else { return }
    if plan.states == .executing || plan.states == .both {
      change("isExecuting") { flags.sync { _executing = false } }
    }
    if plan.states == .finished || plan.states == .both { change("isFinished") { flags.sync { _finished = true } } }
  }

  override func main() {
    if plan.start != .own { begin() }
    log.note(isCancelled ? "main-cancelled" : "main")
    entered.open()
    // A body of a case that is cancelled while executing waits for that.
    if plan.cancelled == .executing || plan.cancelled == .executingAll { mayLeave.pass() }
    if plan.end == .inMain && plan.start != .own && plan.states != .inherited { end() }
    log.note("main-end")
    left.open()
  }

  func ownStart(_ callSuper: () -> Void) {
    log.note("start")
    if plan.start == .own {
      if isCancelled {
        end()
      } else {
        begin()
        main()
        if plan.end == .inMain { end() }
      }
    } else {
      callSuper()
    }
    log.note("start-end")
  }

  func ownCancel(_ callSuper: () -> Void) {
    switch plan.cancel {
    case .inherited: callSuper()
    case .superThenEnd:
      log.note("cancel", of: "cancel")
      callSuper()
      if storedExecuting { end() }
    case .guarded:
      guard !isCancelled else {
        log.note("cancelled-already", of: "cancel")
        return
      }
      callSuper()
      log.note("task-stopped", of: "cancel")
    case .notesReason:
      flags.sync { _reason = "noted" }
      callSuper()
      log.note(isCancelled ? "flag-set" : "no-flag", of: "cancel")
    case .empty: log.note("ignored", of: "cancel")
    }
  }

  var ownReady: Bool { condition }
}

// One class for each combination of overridden members.

class StartOperation: Recorded, @unchecked Sendable {
  override func start() { ownStart { super.start() } }
}

class StatesOperation: Recorded, @unchecked Sendable {
  override var isExecuting: Bool {
    plan.states == .finished ? super.isExecuting : storedExecuting
  }
  override var isFinished: Bool { plan.states == .executing ? super.isFinished : storedFinished }
}

class StartStatesOperation: StartOperation, @unchecked Sendable {
  override var isExecuting: Bool {
    plan.states == .finished ? super.isExecuting : storedExecuting
  }
  override var isFinished: Bool { plan.states == .executing ? super.isFinished : storedFinished }
}

class CancelOperation: Recorded, @unchecked Sendable {
  override func cancel() { ownCancel { super.cancel() } }
}

class StartCancelOperation: StartOperation, @unchecked Sendable {
  override func cancel() { ownCancel { super.cancel() } }
}

class StatesCancelOperation: StatesOperation, @unchecked Sendable {
  override func cancel() { ownCancel { super.cancel() } }
}

class StartStatesCancelOperation: StartStatesOperation, @unchecked Sendable {
  override func cancel() { ownCancel { super.cancel() } }
}

final class ReadyOperation: Recorded, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StartReadyOperation: StartOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StatesReadyOperation: StatesOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StartStatesReadyOperation: StartStatesOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class CancelReadyOperation: CancelOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StartCancelReadyOperation: StartCancelOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StatesCancelReadyOperation: StatesCancelOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

final class StartStatesCancelReadyOperation: StartStatesCancelOperation, @unchecked Sendable {
  override var isReady: Bool { super.isReady && ownReady }
}

/// The operation of a case: of the class that overrides what the case says, and nothing else.
func makeOperation(_ plan: Case, _ log: Log) -> Recorded {
  switch (plan.start != .inherited, plan.states != .inherited, plan.cancel != .inherited, plan.ready != .inherited) {
  case (false, false, false, false): Recorded(plan, log)
  case (true, false, false, false): StartOperation(plan, log)
  case (false, true, false, false): StatesOperation(plan, log)
  case (true, true, false, false): StartStatesOperation(plan, log)
  case (false, false, true, false): CancelOperation(plan, log)
  case (true, false, true, false): StartCancelOperation(plan, log)
  case (false, true, true, false): StatesCancelOperation(plan, log)
  case (true, true, true, false): StartStatesCancelOperation(plan, log)
  case (false, false, false, true): ReadyOperation(plan, log)
  case (true, false, false, true): StartReadyOperation(plan, log)
  case (false, true, false, true): StatesReadyOperation(plan, log)
  case (true, true, false, true): StartStatesReadyOperation(plan, log)
  case (false, false, true, true): CancelReadyOperation(plan, log)
  case (true, false, true, true): StartCancelReadyOperation(plan, log)
  case (false, true, true, true): StatesCancelReadyOperation(plan, log)
  case (true, true, true, true): StartStatesCancelReadyOperation(plan, log)
  }
}
