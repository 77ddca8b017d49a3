import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives

// How a thread runs a fork that another one made.

extension ForkList {
  /// Runs a fork that came out of a backend as a job.
  /// - Parameter level: of the ticket.
  func runAsJob(_ fork: Fork, level: Int) {
    // The scope of the fork has not ended, and holds the home.
    guard let origin = ForkOrigin(of: fork) else { fatalError("Operations: a fork was shown without a backend") }
    run(
      fork, as: Task(home: origin.home, level: level, host: origin.home, maker: origin.maker),
      number: origin.home._withUnsafeGuaranteedRef { $0.number })
  }

  /// Runs a fork of the scope while the owner of this list waits.
  func runWaiting(_ fork: Fork) { run(fork, as: task, number: LaunchFrame.current?.pointee.home ?? 0) }

  /// - Parameters:
  ///   - fork: the calling thread has taken it out of a slot.
  ///   - number: of the backend to which the thread belongs; 0 for none.
  func run(_ fork: Fork, as task: Task, number: UInt32) {
    cplatform_fork_set_taker(fork, memory)
    if task.maker != nil || cplatform_has_task() {
      ForkMaker.runAsTask(task.maker) { perform(fork, as: task, number: number) }
    } else {
      perform(fork, as: task, number: number)
    }
    // The last step: the owner may go on, and use the place of the fork for another one.
    let state = cplatform_state_exchange(&fork.pointee.state, cplatform_fork_done.rawValue)
    if state == cplatform_fork_awaited.rawValue { cplatform_futex_wake(&fork.pointee.state, 1) }
  }

  private func perform(_ fork: Fork, as task: Task, number: UInt32) {
    let before = LaunchFrame.current
    let launch = fork.pointee.launch?.assumingMemoryBound(to: LaunchFrame.self)
    pace.isQuiet = false
    let values = cplatform_values_replace(memory, fork.pointee.values)
    var frame = LaunchFrame(
      operation: 0, queue: launch?.pointee.queue ?? 0, home: number, ownsLink: false, previous: launch,
      depth: (before?.pointee.depth ?? 0) + 1, isFork: true)
    let outer = withUnsafeMutablePointer(to: &frame) { frame in
      cplatform_set_frame(frame)
      let outer = enter(task, launch: frame, scope: fork.pointee.scope, values: values)
      if _slowPath(cplatform_is_tracing()) {
        TraceProbe.fork(of: LaunchFrame.operation(at: launch)) { cplatform_fork_run(fork) }
      } else {
        cplatform_fork_run(fork)
      }
      cplatform_set_frame(before)
      return outer
    }
    leave(outer)
    cplatform_values_end(memory, values)
  }
}
