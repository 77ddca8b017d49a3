import Testing

@testable import OperationCore

/// Each transition against its definition, over every combination of flags.
@Suite struct StateWordTests {
  private typealias Word = StateWord

  /// One failure for the first words that break a rule: thousands would hide it.
  private func check(_ rule: String, _ holds: (StateWord) -> Bool) {
    let broken = Word.all.filter { !holds($0) }
    let words = broken.prefix(3).map { String($0.bits, radix: 16) }
    let count = broken.count
    #expect(count == 0, "\(rule), for example \(words)")
  }

  @Test func `flags are single bits of the low half, all different`() {
    let flags = Word.flags + [Word.hasWaiters, Word.hasDependents, Word.observed, Word.edgesRemoved, Word.askAgain]
    for flag in flags + [Word.hasEpilogue] {
      #expect(flag.nonzeroBitCount == 1)
      #expect(flag < Word.oneDependency)
    }
    #expect(Set(flags + [Word.hasEpilogue]).count == flags.count + 1)
  }

  @Test func `a debug build refuses a step that takes back what stays, or counts below 0`() {
    let started = Word(Word.enqueued, Word.listed, Word.scheduled, Word.linked, Word.started)
    #expect(started.mayBecome(Word(bits: started.bits | Word.finished)))
    #expect(started.mayBecome(Word(bits: started.bits & ~Word.linked)))
    #expect(!started.mayBecome(Word(bits: started.bits & ~Word.started)))
    #expect(!Word(Word.enqueued, Word.finished, Word.started).mayBecome(Word(Word.enqueued, Word.started)))
    #expect(!Word(count: 0).mayBecome(Word(bits: Word(count: 0).bits &- Word.oneDependency)))
    #expect(!Word.initial.mayBecome(Word(bits: Word.initial.bits | Word.skipped)))
    #expect(!Word.initial.mayBecome(Word(bits: Word.initial.bits | Word.scheduled)))
    #expect(Word.initial.isPossible && Word.initialScheduled.isPossible)
  }

  @Test func `a new operation waits for a queue, and one that a queue makes for itself is ready`() {
    #expect(Word.initial == Word(count: 1))
    #expect(!Word.initial.isReady)
    #expect(Word.initialScheduled == Word(Word.enqueued, Word.listed, Word.scheduled, Word.linked))
    #expect(Word.initialScheduled.isReady)
    #expect(!Word.initialScheduled.isExecuting)
    #expect(!Word.initialScheduled.mayLeave)
  }

  @Test func `executing means started, not skipped, and not finished`() {
    check("isExecuting") {
      $0.isExecuting == ($0.has(Word.started) && !$0.has(Word.skipped) && !$0.has(Word.finished))
    }
  }

  @Test func `ready means no dependency left, or cancelled`() {
    check("isReady") { $0.isReady == ($0.dependencyCount == 0 || $0.has(Word.cancelled)) }
  }

  @Test func `it may leave when finished and in a queue, and nobody holds a part of it`() {
    check("mayLeave") {
      $0.mayLeave
        == ($0.has(Word.finished) && $0.has(Word.enqueued) && !$0.has(Word.linked) && !$0.has(Word.examinePending)
          && $0.dependencyCount == 0)
    }
  }

  @Test func `scheduling takes the link when it is free, and voids what the link stands for when it is not`() {
    check("setScheduled") { word in
      var next = word
      let useLink = next.setScheduled()
      let expected = word.adding(Word.scheduled | (useLink ? Word.linked : Word.moved)).removing(Word.heldBack)
      return useLink == !word.has(Word.linked) && next == expected
    }
  }

  @Test func `a released dependency counts down, and the last one schedules, asks, or lets it leave`() {
    check("releasingOne") { word in
      guard word.dependencyCount > 0 else { return true }
      let (next, action) = word.releasingOne()
      var expected = StateWord(bits: word.bits - Word.oneDependency)
      if word.dependencyCount > 1 { return next == expected && action == .nothing }
      if word.has(Word.finished) { return next == expected && action == (expected.mayLeave ? .leave : .nothing) }
      if word.has(Word.scheduled) || word.has(Word.started) { return next == expected && action == .nothing }
      if word.has(Word.asksReady) { return next == expected && action == .askReady }
      let useLink = expected.setScheduled()
      return next == expected && action == .schedule(useLink: useLink)
    }
  }

  @Test func `cancelling sets the flag once, schedules what waits in a queue, and does nothing after the finish`() {
    check("cancelling") { word in
      let waits = word.has(Word.listed) && !word.has(Word.scheduled) && !word.has(Word.started)
      guard let (next, schedule, useLink) = word.cancelling() else {
        return word.has(Word.finished) || (word.has(Word.cancelled) && !waits)
      }
      if word.has(Word.finished) || (word.has(Word.cancelled) && !waits) || schedule != waits { return false }
      var expected = word.adding(Word.cancelled)
      return waits ? expected.setScheduled() == useLink && next == expected : !useLink && next == expected
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `an entry starts exactly what is scheduled, current, admitted and ready or cancelled`(
    byLink: Bool, admitted: Bool
  ) {
    for queueCancelled in [true, false] {
      check("claiming") { word in
        let (next, claim) = word.claiming(byLink: byLink, admitted: admitted, queueCancelled: queueCancelled)
        let givenBack = byLink ? Word.linked : 0
        let isVoid = word.has(Word.started) || !word.has(Word.scheduled) || byLink == word.has(Word.moved)
        if isVoid {
          let expected = word.removing(givenBack)
          return next == expected && claim == .drop(leave: byLink && expected.mayLeave)
        }
        if word.has(Word.tracked), !admitted { return next == word && claim == .divert }
        if word.has(Word.cancelled) || queueCancelled {
          return next == word.adding(Word.started | Word.skipped | Word.cancelled) && claim == .skip
        }
        if word.dependencyCount > 0 {
          return next == word.removing(Word.scheduled | Word.moved | givenBack) && claim == .drop(leave: false)
        }
        return next == word.adding(Word.started) && claim == .start
      }
    }
  }

  @Test func `the one-step finish is for who owns the link when nothing else holds the operation`() {
    check("finishingAndLeaving") { word in
      let may =
        word.has(Word.linked) && !word.has(Word.examinePending) && !word.has(Word.finished)
        && word.dependencyCount == 0
      guard let next = word.finishingAndLeaving() else { return !may }
      return may && next == word.adding(Word.finished).removing(Word.linked)
        && next.mayLeave == word.has(Word.enqueued)
    }
  }

  @Test func `a waiter takes only what is listed, scheduled, ready and nobody else's to decide`() {
    for queueCancelled in [false, true] {
      check("claimingForWaiter") { word in
        let refused = [Word.started, Word.tracked, Word.finished, Word.moved]
        let skips = word.has(Word.cancelled) || queueCancelled
        let may =
          word.has(Word.listed) && word.has(Word.scheduled) && !refused.contains { word.has($0) }
          && (skips || word.dependencyCount == 0)
        guard let next = word.claimingForWaiter(queueCancelled: queueCancelled) else { return !may }
        return may && next == word.adding(skips ? Word.started | Word.skipped | Word.cancelled : Word.started)
      }
    }
  }

  @Test func `a change of priority moves what is scheduled and not started`() {
    check("movesOnPriorityChange") {
      $0.movesOnPriorityChange == ($0.has(Word.scheduled) && !$0.has(Word.started))
    }
  }

  @Test func `no transition touches flags that are not its business`() {
    let others =
      Word.hasWaiters | Word.hasDependents | Word.observed | Word.edgesRemoved | Word.askAgain | Word.hasEpilogue
    check("untouched flags") { plain in
      let word = plain.adding(others)
      var scheduled = word
      _ = scheduled.setScheduled()
      var results = [scheduled]
      if plain.dependencyCount > 0 { results.append(word.releasingOne().next) }
      for byLink in [true, false] {
        results.append(word.claiming(byLink: byLink, admitted: true, queueCancelled: false).next)
      }
      results += [word.cancelling()?.next, word.finishingAndLeaving(), word.claimingForWaiter(queueCancelled: true)]
        .compactMap { $0 }
      return results.allSatisfy { $0.bits & others == others }
    }
  }
}
