import Testing

@testable import StressEngine

/// The stress test's own checks: a good history passes, and each kind of bad one is found.
@Suite struct RoundHistoryTests {
  /// Two operations in a queue, the second depends on the first, then a barrier, then a third.
  private func good() -> RoundHistory {
    var history = RoundHistory()
    history.operations = [
      operation(0, added: 1...2, ran: 10...20), operation(1, added: 3...4, ran: 30...40),
      operation(2, added: 7...8, ran: 70...80),
    ]
    history.operations[1].dependencies = [0]
    history.operations[1].expectsCompletion = true
    history.operations[1].completions = 1
    history.operations[1].completion = 45
    history.barriers = [RoundHistory.Barrier(queue: 0, addStart: 5, addEnd: 6, begins: 1, begin: 50, end: 60)]
    return history
  }

  private func operation(_ id: Int, added: ClosedRange<Int>, ran: ClosedRange<Int>) -> RoundHistory.OperationEntry {
    RoundHistory.OperationEntry(
      id: id, kind: .plain, queue: 0, addStart: added.lowerBound, addEnd: added.upperBound, begins: 1,
      begin: ran.lowerBound, end: ran.upperBound, wasFinished: true, runningAtBegin: 1)
  }

  private func expect(_ count: Int, _ text: String, _ change: (inout RoundHistory) -> Void) {
    var history = good()
    change(&history)
    let violations = history.violations()
    #expect(violations.count == count && violations.allSatisfy { $0.contains(text) }, "\(violations)")
  }

  @Test func `a good history has no violations`() { #expect(good().violations() == []) }

  @Test func `running twice`() { expect(1, "ran 2 times") { $0.operations[0].begins = 2 } }

  @Test func `never running`() {
    expect(1, "neither ran nor was cancelled") {
      $0.operations[2].begins = 0
      $0.operations[2].begin = 0
      $0.operations[2].end = 0
    }
  }

  @Test func `not finishing`() { expect(1, "did not finish") { $0.operations[2].wasFinished = false } }

  @Test func `beginning without an end`() {
    expect(1, "did not end") { $0.operations[2].end = 0 }
  }

  @Test func `cancelled by nobody`() { expect(1, "nobody cancelled it") { $0.operations[0].wasCancelled = true } }

  @Test func `cancelled with all, but added later`() {
    expect(1, "nobody cancelled it") {
      $0.cancelAlls = [RoundHistory.Call(queue: 0, start: 41, end: 42)]
      $0.operations[2].addStart = 43
      $0.operations[2].addEnd = 44
      $0.operations[2].wasCancelled = true
    }
  }

  @Test func `not cancelled with all`() {
    expect(1, "is not cancelled") { $0.cancelAlls = [RoundHistory.Call(queue: 0, start: 41, end: 75)] }
    expect(0, "") { $0.cancelAlls = [RoundHistory.Call(queue: 1, start: 41, end: 75)] }
    expect(0, "") { $0.cancelAlls = [RoundHistory.Call(queue: 0, start: 41, end: 81)] }
  }

  @Test func `completion block twice, never, or too early`() {
    expect(1, "completion block 2 times") { $0.operations[1].completions = 2 }
    expect(1, "completion block 0 times") { $0.operations[1].completions = 0 }
    expect(1, "before it ended") { $0.operations[1].completion = 39 }
    expect(1, "completion block 1 times") { $0.operations[1].expectsCompletion = false }
  }

  @Test func `an observer told twice, never, or without being there`() {
    expect(1, "observer 2 times") {
      $0.operations[0].isObserved = true
      $0.operations[0].observations = 2
    }
    expect(1, "observer 0 times") { $0.operations[0].isObserved = true }
    expect(1, "observer 1 times") { $0.operations[0].observations = 1 }
  }

  @Test func `a phantom that runs`() {
    expect(1, "nobody started it") { $0.operations[0].kind = .phantom }
  }

  @Test func `a dependency that had not ended`() {
    expect(1, "before its dependency") { $0.operations[1].begin = 15 }
  }

  @Test func `started after its cancellation returned`() {
    expect(1, "although it had not started") {
      $0.operations[2].cancelStart = 8
      $0.operations[2].wasCancelled = true
      $0.operations[2].pendingAfterCancel = 9
    }
  }

  @Test func `a barrier that is not alone, too early, or too late`() {
    expect(1, "at the same time") { $0.barriers[0].begin = 35 }
    expect(1, "added earlier, ran after") {
      $0.operations[1].begin = 61
      $0.operations[1].end = 65
      $0.operations[1].completion = 66
    }
    expect(1, "added later, ran before") {
      $0.operations[2].begin = 46
      $0.operations[2].end = 49
    }
    expect(1, "neither ran nor was cancelled") {
      $0.barriers[0].begins = 0
    }
    expect(1, "ran 2 times") { $0.barriers[0].begins = 2 }
  }

  @Test func `beginning while suspended`() {
    let suspension = RoundHistory.Suspension(queue: 0, from: 65, until: 75, pending: [2])
    expect(1, "was suspended") { $0.suspensions = [suspension] }
    expect(0, "") {
      $0.suspensions = [suspension]
      $0.suspensions[0].until = 69
    }
  }

  @Test func `more at once than the limit`() {
    func change(_ start: Int, _ end: Int, _ limit: Int) -> RoundHistory.LimitChange {
      RoundHistory.LimitChange(call: RoundHistory.Call(queue: 0, start: start, end: end), limit: limit)
    }
    // Lowered before operation 2 was added: too many. Lowered while or after it was added: it may count as handed over.
    expect(1, "the limit was 2") {
      $0.limitChanges = [change(0, 0, 4), change(2, 3, 2)]
      $0.operations[2].runningAtBegin = 3
    }
    expect(0, "") {
      $0.limitChanges = [change(0, 0, 4), change(2, 9, 2)]
      $0.operations[2].runningAtBegin = 3
    }
    // Raised before it began.
    expect(0, "") {
      $0.limitChanges = [change(0, 0, 1), change(65, 90, 3)]
      $0.operations[2].runningAtBegin = 3
    }
    expect(1, "the limit was 1") {
      $0.limitChanges = [change(0, 0, 1), change(75, 90, 3)]
      $0.operations[2].runningAtBegin = 3
    }
  }
}
