/// The contract, as far as a history can show it. Pure: what it finds follows from the values alone.
extension RoundHistory {
  /// One line for each rule that something broke.
  func violations() -> [String] {
    operations.flatMap(violations(of:)) + operations.flatMap(orderViolations(of:)) + barriers.flatMap(violations(of:))
      + suspensions.flatMap(violations(of:)) + operations.flatMap(limitViolations(of:))
      + cancelAlls.flatMap(violations(ofCancelAll:))
  }

  private func mayBeCancelled(queue: Int?, addStart: Int) -> Bool {
    cancelAlls.contains { $0.queue == queue && $0.end > addStart }
  }

  // MARK: - Exactly once

  private func violations(of operation: OperationEntry) -> [String] {
    var violations: [String] = []
    if operation.begins > 1 { violations.append("\(operation) ran \(operation.begins) times") }
    if operation.ran, operation.end <= operation.begin { violations.append("\(operation) began and did not end") }
    let mayBeCancelled =
      operation.cancelStart > 0 || mayBeCancelled(queue: operation.queue, addStart: operation.addStart)
    switch operation.kind {
    case .phantom:
      if operation.ran || operation.wasFinished { violations.append("\(operation) ran, although nobody started it") }
    case .closure, .task:
      if !operation.ran, !mayBeCancelled { violations.append("\(operation) neither ran nor was cancelled") }
    default:
      if !operation.wasFinished { violations.append("\(operation) did not finish") }
      if !operation.ran, !operation.wasCancelled { violations.append("\(operation) neither ran nor was cancelled") }
      if operation.wasCancelled, !mayBeCancelled {
        violations.append("\(operation) is cancelled, and nobody cancelled it")
      }
    }
    if operation.completions != (operation.expectsCompletion ? 1 : 0) {
      violations.append("\(operation) called its completion block \(operation.completions) times")
    }
    if operation.completions > 0, operation.completion < operation.end {
      violations.append("\(operation) called its completion block before it ended")
    }
    if operation.observations != (operation.isObserved && operation.kind != .phantom ? 1 : 0) {
      violations.append("\(operation) told its observer \(operation.observations) times that it finished")
    }
    return violations
  }

  // MARK: - Order

  private func orderViolations(of operation: OperationEntry) -> [String] {
    guard operation.ran else { return [] }
    var violations: [String] = []
    for id in operation.dependencies where operations[id].ran && operations[id].end > operation.begin {
      violations.append("\(operation) began before its dependency \(operations[id]) ended")
    }
    if operation.pendingAfterCancel > 0 {
      violations.append("\(operation) ran, although it had not started when its cancellation had returned")
    }
    return violations
  }

  private func violations(of barrier: Barrier) -> [String] {
    let name = "the barrier added at \(barrier.addStart) to queue \(barrier.queue)"
    guard barrier.begins > 0 else {
      let mayBeCancelled = mayBeCancelled(queue: barrier.queue, addStart: barrier.addStart)
      return mayBeCancelled ? [] : ["\(name) neither ran nor was cancelled"]
    }
    var violations = barrier.begins == 1 ? [] : ["\(name) ran \(barrier.begins) times"]
    if barrier.end <= barrier.begin { violations.append("\(name) began and did not end") }
    for operation in operations where operation.queue == barrier.queue && operation.ran {
      if operation.begin < barrier.end, operation.end > barrier.begin {
        violations.append("\(operation) and \(name) ran at the same time")
      } else if operation.addEnd < barrier.addStart, operation.begin > barrier.begin {
        violations.append("\(operation), added earlier, ran after \(name)")
      } else if operation.addStart > barrier.addEnd, operation.begin < barrier.begin {
        violations.append("\(operation), added later, ran before \(name)")
      }
    }
    return violations
  }

  // MARK: - Suspension, limit, cancelling everything

  private func violations(of suspension: Suspension) -> [String] {
    suspension.pending.compactMap { id in
      let operation = operations[id]
      guard operation.ran, operation.begin < suspension.until else { return nil }
      return "\(operation) began at \(operation.begin), while queue \(suspension.queue) was suspended "
        + "(\(suspension.from) to \(suspension.until))"
    }
  }

  /// An operation that was added after a limit came into force begins within it. (Those that had been handed to the
  /// backend when the limit was lowered may still begin.)
  private func limitViolations(of operation: OperationEntry) -> [String] {
    guard operation.ran, let queue = operation.queue else { return [] }
    let changes = limitChanges.filter { $0.call.queue == queue }
    var allowed = 0
    for (index, change) in changes.enumerated() {
      let nextInForce = index + 1 < changes.count ? changes[index + 1].call.end : Int.max
      if change.call.start < operation.begin, nextInForce > operation.addStart { allowed = max(allowed, change.limit) }
    }
    guard !changes.isEmpty, operation.runningAtBegin > allowed else { return [] }
    return ["\(operation) was number \(operation.runningAtBegin) to run at once; the limit was \(allowed)"]
  }

  private func violations(ofCancelAll call: Call) -> [String] {
    operations.compactMap { operation in
      guard operation.queue == call.queue, operation.addEnd < call.start, operation.end > call.end else { return nil }
      guard operation.kind != .closure, operation.kind != .task, !operation.wasCancelled else { return nil }
      return "\(operation) had not finished when cancelAllOperations returned at \(call.end), and is not cancelled"
    }
  }
}
