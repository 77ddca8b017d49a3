// Runs cases, and prints one line for each: the case, and the log of what happened. Usage:
// FIRST,COUNT,MILLISECONDS: how long a case waits until it is over. The named idioms
// have the numbers from 1,000,000.

import Glibc

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// A case that was begun, and whose log is read when all cases of the batch have come to rest.
struct Begun {
  let seed: UInt64
  let plan: Case
  let log: Log
  let operation: Recorded
  let follower: Operation
  let queues: [OperationQueue]

  /// Nothing more can happen: the operation has ended, and all that follows it.
  var isOver: Bool {
    operation.isFinished && log.has("called", of: "completion")
      && (plan.place == .none || (log.has("ran", of: "dependent") && queues.allSatisfy { $0.operationCount == 0 }))
  }
}

func begin(_ seed: UInt64) -> Begun {
  let plan = Case(seed: seed)
  let log = Log()
  let operation = makeOperation(plan, log)
  let completed = Gate()
  operation.completionBlock = {
    log.note("called", of: "completion")
    completed.open()
  }
  let follower = BlockOperation { log.note("ran", of: "dependent") }
  let queue = OperationQueue()
  let other = plan.place == .two ? OperationQueue() : queue
  if plan.place != .none { follower.addDependency(operation) }
  // Before the start means: the queue is suspended, so nothing has begun.
  let waitsForCancel = plan.cancelled == .before || plan.cancelled == .beforeAll
  if plan.ready == .posted && plan.place == .none { operation.meetCondition() }
  switch plan.place {
  case .none:
    if plan.cancelled == .before { operation.cancel() }
    let started = Gate()
    // A thread of its own, since a body may wait for its cancelling.
    DispatchQueue.global().async {
      operation.start()
      started.open()
    }
    if plan.cancelled == .executing, operation.entered.pass(1) { operation.cancel() }
    operation.mayLeave.open()
    _ = started.pass(2)
  case .queue, .two:
    queue.isSuspended = waitsForCancel
    queue.addOperation(operation)
    other.addOperation(follower)
    if plan.cancelled == .before { operation.cancel() }
    if plan.cancelled == .beforeAll { queue.cancelAllOperations() }
    queue.isSuspended = false
    if plan.ready == .posted { operation.meetCondition() }
    let executes = plan.ready != .waits && !waitsForCancel
    if executes, operation.entered.pass(2) {
      if plan.cancelled == .executing { operation.cancel() }
      if plan.cancelled == .executingAll { queue.cancelAllOperations() }
    }
    operation.mayLeave.open()
  }
  // The work goes on after main() has returned, and then ends.
  let mayRun = plan.cancelled != .before && plan.cancelled != .beforeAll || plan.cancel == .empty
  if plan.end == .later, mayRun, plan.ready != .waits, operation.left.pass(2) {
    let isTold = completed.pass(0.05)
    log.note(operation.isFinished ? "finished" : isTold ? "told-before-its-end" : "goes-on", of: "driver")
    operation.end()
  }
  return Begun(
    seed: seed, plan: plan, log: log, operation: operation, follower: follower,
    queues: plan.place == .none ? [] : plan.place == .two ? [queue, other] : [queue])
}

let firstNamed: UInt64 = 1_000_000

/// The case of a seed, as its line names it.
func text(_ seed: UInt64) -> String {
  seed >= firstNamed ? "idiom=\(namedIdioms[Int(seed - firstNamed)].name)" : Case(seed: seed).text
}

/// Runs the case of a seed in this process, and returns its line.
func run(_ seed: UInt64) -> String {
  if seed >= firstNamed {
    let log = Log()
    namedIdioms[Int(seed - firstNamed)].run(log)
    return "\(seed) | \(text(seed)) | \(log.text) |\n"
  }
  let begun = begin(seed)
  // A case that is over needs no wait. What is not over after this time never is.
  for _ in 0..<patience where !begun.isOver { usleep(1000) }
  let operation = begun.operation
  let left = begun.queues.map { "\($0.operationCount)" }.joined(separator: ",")
  return "\(seed) | \(begun.plan.text) | \(begun.log.text) | finished=\(operation.isFinished) "
    + "executing=\(operation.isExecuting) cancelled=\(operation.isCancelled) reason=\(operation.reason) left=\(left)\n"
}

let arguments = CommandLine.arguments.dropFirst().joined().split(separator: ",").compactMap { UInt64($0) }
let first = arguments.first ?? 1
let count = arguments.dropFirst().first ?? 1
let patience = arguments.dropFirst(2).first ?? 1_000
let width = 16
// Each case has a process of its own: Foundation ends the process in some, and what never ends harms no other case.
// This process has no other threads and no queues, so a child may use both.
var processes: [pid_t: UInt64] = [:]

func collectOne(_ processes: inout [pid_t: UInt64]) {
  var status: Int32 = 0
  let process = wait(&status)
  guard let seed = processes.removeValue(forKey: process) else { return }
  if status != 0 {
    let word = status & 0x7F == SIGALRM ? "hung" : "crashed"
    print("\(seed) | \(text(seed)) | \(word) |")
    fflush(nil)
  }
}

let named = firstNamed..<firstNamed + UInt64(namedIdioms.count)
for seed in Array(named) + Array(first..<first + count) {
  let process = fork()
  if process == 0 {
    alarm(15 + UInt32(patience / 1_000))
    let line = run(seed)
    // One call, so that the lines of two processes do not mix.
    _ = line.withCString { write(1, $0, strlen($0)) }
    _exit(0)
  }
  processes[process] = seed
  if processes.count == width { collectOne(&processes) }
}
while !processes.isEmpty { collectOne(&processes) }
