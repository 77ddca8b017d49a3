import CPlatform
import OperationExecutors
import OperationJobs
import OperationTraceEvents
import Synchronization

// How a node runs, and what comes behind it.

extension GraphRun {
  /// Runs a node on the calling thread.
  /// - Parameters:
  ///   - lane: of the calling thread, or `noLane`.
  ///   - pace: of a thread that helps: it is told how long the body took.
  /// - Returns: the node that this thread runs next, or `noNode`.
  @inline(__always)
  func run(_ node: UInt32, _ lane: Int, _ pace: UnsafeMutablePointer<HelpingPace>?) -> UInt32 {
    let step = steps + Int(node)
    let place = pending + Int(node)
    let word = place.pointee.load(ordering: .relaxed)
    place.pointee.store(step.pointee.predecessors | begunNow, ordering: .relaxed)
    if lane >= 0 { (running + lane).pointee.pointer.pointee.store(node, ordering: .relaxed) }
    if word & Self.skips != 0 || attention.pointer.pointee.stop.load(ordering: .relaxed) != 0 {
      return skip(node, lane, isBehindFailure: word & Self.skips != 0)
    }
    if measured != nil || step.pointee.isTask || cplatform_is_tracing() { return runSlowly(node, lane) }
    let start = pace == nil ? 0 : cplatform_ticks()
    let error = cplatform_call(step, values.memory)
    pace?.pointee.ran(for: cplatform_ticks() &- start)
    if let error { return fail(node, Self.error(error), lane) }
    return settle(node, lane)
  }

  /// Takes over an error of Swift's.
  private static func error(_ word: UnsafeMutableRawPointer) -> any Error {
    var word = word
    return withUnsafeMutableBytes(of: &word) { $0.assumingMemoryBound(to: (any Error).self).moveElement(from: 0) }
  }

  /// A node whose body is asynchronous, timed or traced.
  @inline(never)
  private func runSlowly(_ node: UInt32, _ lane: Int) -> UInt32 {
    if let body = plan.tasks[node] {
      begin(body, of: node)
      return Self.noNode
    }
    let body = steps[Int(node)].body
    let start = cplatform_ticks()
    do {
      if cplatform_is_tracing() { try trace(body, node) } else { try body(values) }
    } catch {
      return fail(node, error, lane)
    }
    if let measured { measured[Int(node)] += (Float(cplatform_ticks() &- start) - measured[Int(node)]) / 4 }
    return settle(node, lane)
  }

  private func trace(_ body: GraphBody, _ node: UInt32) throws {
    var failure: (any Error)?
    TraceProbe.node(plan.name(of: node), of: LaunchFrame.operation(at: crew.launch)) {
      do { try body(values) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  @inline(never)
  private func skip(_ node: UInt32, _ lane: Int, isBehindFailure: Bool) -> UInt32 {
    if !isBehindFailure { failure.withLock { failure.state.hasSkipped = true } }
    return settleAny(node, lane, hasFailed: true)
  }

  @inline(never)
  private func fail(_ node: UInt32, _ error: any Error, _ lane: Int) -> UInt32 {
    note(error, of: node)
    return settleAny(node, lane, hasFailed: true)
  }

  /// A node has ended, and its value is there.
  @inline(__always)
  private func settle(_ node: UInt32, _ lane: Int) -> UInt32 {
    let first = node == 0 ? 0 : Int(steps[Int(node) - 1].end)
    if isSimple, lane >= 0, Int(steps[Int(node)].end) == first + 1 {
      let next = successors[first]
      return isLast(before: next) ? next : Self.noNode
    }
    return settleAny(node, lane, hasFailed: false)
  }

  /// Whether the node that has ended was the last one before another.
  @inline(__always)
  private func isLast(before next: UInt32) -> Bool {
    let word = pending + Int(next)
    return passed == nil && steps[Int(next)].predecessors == 1
      || word.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue & Self.counts == 0
  }

  /// A node has ended: what came behind it alone is ready.
  @inline(never)
  private func settleAny(_ node: UInt32, _ lane: Int, hasFailed: Bool) -> UInt32 {
    if let hasValue, !hasFailed { hasValue[Int(node)] = true }
    if let passed, passed[Int(node)].exchange(Passed.ended, ordering: .acquiringAndReleasing) == Passed.isAwaited {
      // The node there has not begun, so that run goes on.
      next?.whileItGoesOn {
        next?.letGo(node, Self.noLane)
        next?.offer()
      }
    }
    let (first, end) = plan.successors(of: Int(node))
    guard first < end else {
      endOne()
      return Self.noNode
    }
    var kept = Self.noNode
    var hasOthers = false
    var place = end
    while place > first {
      place -= 1
      let next = successors[place]
      if hasFailed { pending[Int(next)].bitwiseOr(Self.skips, ordering: .relaxed) }
      guard isLast(before: next) else { continue }
      if kept != Self.noNode {
        add(kept, lane)
        hasOthers = true
      }
      kept = next
    }
    if kept != Self.noNode, lane < 0 || isDriven || ranks != nil {
      add(kept, lane)
      hasOthers = hasOthers || lane < 0 || isDriven
      kept = Self.noNode
    }
    if hasOthers { offer() }
    return kept
  }

  private func note(_ error: any Error, of node: UInt32) {
    // The other error is released without the lock: its class is a user's.
    var error: (any Error)? = error
    failure.withLock {
      guard node < failure.state.node else { return }
      failure.state.node = node
      swap(&failure.state.error, &error)
    }
    if mode == .skipOthers { attention.pointer.pointee.stop.store(1, ordering: .sequentiallyConsistent) }
  }

  /// What was before a node in the run before has ended.
  func letGo(_ node: UInt32, _ lane: Int) {
    if pending[Int(node)].subtract(1, ordering: .acquiringAndReleasing).newValue & Self.counts == 0 { add(node, lane) }
  }

  // MARK: - Asynchronous bodies

  private func begin(_ body: @escaping GraphTaskBody, of node: UInt32) {
    let values = values
    let task = Task(executorPreference: executor, priority: Job.taskPriority(ofLevel: crew.level)) {
      var failure: (any Error)?
      do { try await body(values) } catch { failure = error }
      self.taskEnds(node, failure)
    }
    failure.withLock {
      if failure.state.endedEarly.remove(node) == nil { failure.state.tasks[node] = task }
    }
    if attention.pointer.pointee.stop.load(ordering: .sequentiallyConsistent) != 0 { task.cancel() }
  }

  private func taskEnds(_ node: UInt32, _ error: (any Error)?) {
    let task = failure.withLock {
      let task = failure.state.tasks.removeValue(forKey: node)
      if task == nil { failure.state.endedEarly.insert(node) }
      return task
    }
    withExtendedLifetime(task) {}
    if let error { note(error, of: node) }
    whileItGoesOn { _ = settleAny(node, Self.noLane, hasFailed: error != nil) }
  }
}
