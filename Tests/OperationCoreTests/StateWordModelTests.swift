import TestSupport
import Testing

@testable import OperationCore

/// The transitions of the state word as the models of `Tests/Models` know them.
@Suite struct StateWordModelTests {
  private typealias Word = StateWord

  /// Where the models' words keep the count: they have 32 bits.
  private static let countShift: UInt64 = 20
  private static let none = "0xffffff"

  /// Every word that can come up without overridden properties, and some that cannot: counts up to four, the queue's
  /// own one included.
  private static let words: [StateWord] = {
    let held = [Word.scheduled, Word.linked, Word.cancelled, Word.tracked, Word.moved]
    let stages: [UInt64] = [
      0, Word.started, Word.started | Word.skipped, Word.started | Word.finished,
      Word.started | Word.skipped | Word.finished,
    ]
    var words: [StateWord] = []
    for count in UInt64(0)...4 {
      for cancelled in [0, Word.cancelled] where count > 0 {
        words.append(Word(Word.enqueued, cancelled, count: count))
      }
      for stage in stages {
        for choice in 0..<UInt64(1) << UInt64(held.count) {
          let flags = held.enumerated().reduce(stage) { $0 | (choice >> UInt64($1.offset) & 1 == 1 ? $1.element : 0) }
          words.append(Word(Word.enqueued, Word.listed, flags, count: count))
        }
      }
    }
    return words
  }()

  private static func text(_ word: StateWord?) -> String {
    guard let word else { return none }
    return "0x" + String(word.bits & 0xFFFFF | word.dependencyCount << countShift, radix: 16)
  }

  // What the functions decide, as the models' numbers; `state_word.h` names them.

  private static func number(_ release: StateWord.Release) -> Int {
    switch release {
    case .nothing: 0
    case .schedule(let useLink): useLink ? 1 : 2
    case .askReady: 3
    case .leave: 4
    }
  }

  private static func number(_ claim: StateWord.Claim) -> Int {
    switch claim {
    case .start: 0
    case .skip: 1
    case .drop(let leave): leave ? 3 : 2
    case .divert: 4
    }
  }

  private static func row(_ word: StateWord) -> String {
    var fields = [text(word), word.mayLeave ? "1" : "0"]
    if word.dependencyCount > 0 {
      let (next, action) = word.releasingOne()
      fields += [text(next), String(number(action))]
    } else {
      fields += [none, "0"]
    }
    let cancelled = word.cancelling()
    fields += [text(cancelled?.next), String(cancelled.map { $0.schedule ? $0.useLink ? 1 : 2 : 0 } ?? 0)]
    for byLink in [false, true] {
      for admitted in [false, true] {
        for queueCancelled in [false, true] {
          let (next, claim) = word.claiming(byLink: byLink, admitted: admitted, queueCancelled: queueCancelled)
          fields += [text(next), String(number(claim))]
        }
      }
    }
    fields += [text(word.finishingAndLeaving())]
    fields += [false, true].map { text(word.claimingForWaiter(queueCancelled: $0)) }
    return fields.joined(separator: ",")
  }

  @Test func `the models' table says what the functions say`() {
    ModelTable(
      "state_word_transitions.txt",
      comment: [
        "StateWord's functions as a table: written by StateWordModelTests, read by the models through state_word.h.",
        "word, mayLeave; next and action of releasingOne, of cancelling, of claiming (byLink, admitted, queueCancelled)",
        "from false, false, false to true, true, true; next of finishingAndLeaving, of claimingForWaiter",
        "(queueCancelled: false, true). Count: bit 20 up.",
      ], rows: Self.words.map(Self.row)
    ).check(test: "StateWordModelTests")
  }

  /// `queueWanted` alone decides something: with it there is no one-step finish, and the models do not look that up.
  @Test func `flags that the table leaves out pass through every transition and decide nothing else`() {
    for flag in [
      Word.hasWaiters, Word.hasDependents, Word.edgesRemoved, Word.hasEpilogue, Word.observed, Word.queueWanted,
    ] {
      let changed = Self.words.filter { word in
        let other = word.adding(flag)
        var same = other.mayLeave == word.mayLeave
        if word.dependencyCount > 0 {
          let (next, action) = word.releasingOne()
          same = same && other.releasingOne() == (next.adding(flag), action)
        }
        let cancelled = word.cancelling()
        let otherCancelled = other.cancelling()
        same = same && otherCancelled?.next == cancelled?.next.adding(flag)
        same = same && otherCancelled?.schedule == cancelled?.schedule && otherCancelled?.useLink == cancelled?.useLink
        for choice in 0..<8 {
          let (next, claim) = word.claiming(
            byLink: choice & 1 == 1, admitted: choice & 2 == 2, queueCancelled: choice & 4 == 4)
          let (otherNext, otherClaim) = other.claiming(
            byLink: choice & 1 == 1, admitted: choice & 2 == 2, queueCancelled: choice & 4 == 4)
          same = same && otherNext == next.adding(flag) && otherClaim == claim
        }
        let finished = flag == Word.queueWanted ? nil : word.finishingAndLeaving()?.adding(flag)
        same = same && other.finishingAndLeaving() == finished
        for isCancelled in [false, true] {
          let next = word.claimingForWaiter(queueCancelled: isCancelled)
          same = same && other.claimingForWaiter(queueCancelled: isCancelled) == next?.adding(flag)
        }
        return !same
      }
      #expect(changed.isEmpty, "\(String(flag, radix: 16)), for example in \(changed.prefix(3))")
    }
  }
}
