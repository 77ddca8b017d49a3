import CPlatform
import OperationTraceEvents

/// The probes of tracing for jobs of Swift's runtime: when a task was handed over, and from when until when it ran.
enum TaskProbe {
  /// A job is handed over.
  @inline(__always)
  static func ready(_ job: UnownedJob?) {
    if cplatform_is_tracing(), let job { recordReady(RuntimeHooks.address(of: job)) }
  }

  /// A thread runs a job, in `body`.
  @inline(__always)
  static func running(_ job: UnownedJob?, _ body: () -> Void) {
    guard cplatform_is_tracing(), let job else { return body() }
    recordBegin(job)
    // The task may be gone when the body returns.
    body()
    if cplatform_is_tracing() { recordEnd() }
  }

  @inline(never)
  private static func recordReady(_ job: UnsafeMutableRawPointer) {
    if cplatform_is_task(job) { TraceProbe.record(.taskReady, number(of: job)) }
  }

  @inline(never)
  private static func recordBegin(_ job: UnownedJob) {
    let buffer = TraceSession.ownBuffer()
    let address = RuntimeHooks.address(of: job)
    var (number, function): (UInt, UInt) = (0, 0)
    if cplatform_is_task(address) {
      (number, function) = (self.number(of: address), cplatform_task_function(address))
      if buffer.isNew(task: number, at: function) { recordWhatItIs(address, number, function, in: buffer) }
    }
    buffer.append(
      TraceEvent(.taskBegins, at: cplatform_now_ns(), number, detail: function, value: UInt32(job.priority.rawValue)))
  }

  /// Once for each task and function: the name and the functions around are copied by calls of the system.
  private static func recordWhatItIs(
    _ task: UnsafeMutableRawPointer, _ number: UInt, _ function: UInt, in buffer: TraceBuffer
  ) {
    let memory = TaskMemory(UInt(bitPattern: task), number: UInt64(number))
    let now = cplatform_now_ns()
    // A task that has not begun has its own function behind the others.
    for function in memory.map({ $0.functions.dropFirst().prefix(12) + [$0.entry ?? 0] }) ?? [] where function != 0 {
      buffer.append(TraceEvent(.taskFunction, at: now, function))
    }
    buffer.append(TraceEvent(.taskKnown, at: now, number, detail: function), name: memory?.name)
  }

  @inline(never)
  private static func recordEnd() { TraceProbe.record(.taskEnds) }

  private static func number(of task: UnsafeMutableRawPointer) -> UInt {
    UInt(truncatingIfNeeded: cplatform_task_number(task))
  }
}
