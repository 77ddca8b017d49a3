import Testing

@testable import VirtualScheduling

@Suite struct ListTests {
  @Test func aSetOfNumbersFindsTheNextMember() {
    var choices = VirtualChoices(seed: 11)
    for size in [1, 63, 64, 65, 1_024, 5_000] {
      var set = NumberSet()
      var members: Set<Int> = []
      for _ in 0..<300 {
        let number = choices.pick(below: size)
        let isMember = choices.pick(below: 3) > 0
        set.set(number, to: isMember)
        if isMember { members.insert(number) } else { members.remove(number) }
        let start = choices.pick(below: size)
        let after = members.filter { $0 >= start }.min()
        #expect(set.next(from: start) == after)
        #expect(set.next(cyclicallyFrom: start) == after ?? members.min())
      }
    }
  }

  @Test func ranksAreThoseOfAPlainCount() {
    var choices = VirtualChoices(seed: 12)
    var meter = RankMeter()
    var queued: [QueuedJob] = []
    for number in 0..<600 {
      let job = QueuedJob(word: 0, level: Int32(choices.pick(below: 5)), maker: 0, number: number)
      meter.add(job)
      queued.append(job)
      guard choices.pick(below: 2) == 1 else { continue }
      let taken = queued.remove(at: choices.pick(below: queued.count))
      let before = queued.count { $0.level > taken.level || ($0.level == taken.level && $0.number < taken.number) }
      #expect(meter.take(taken) == before)
    }
    #expect(meter.count(from: 0) == queued.count)
  }

  @Test func ringsKeepTheirOrder() {
    var choices = VirtualChoices(seed: 13)
    var ring = JobRing()
    var plain: [UInt] = []
    for word in 0..<500 as Range<UInt> {
      ring.append(QueuedJob(word: word, level: 0, maker: 0, number: 0))
      plain.append(word)
      switch choices.pick(below: 4) {
      case 0: #expect(ring.popFirst()?.word == plain.removeFirst())
      case 1: #expect(ring.popLast()?.word == plain.removeLast())
      default: break
      }
      #expect(ring.count == plain.count)
    }
  }

  @Test func eventsLeaveByTimeAndThenByAge() {
    var choices = VirtualChoices(seed: 14)
    var heap = EventHeap()
    for number in 0..<500 as Range<UInt64> {
      heap.push(
        Event(
          time: Int64(choices.pick(below: 40)), number: number, kind: .timer, subject: 0, epoch: 0))
    }
    var last = heap.popFirst()!
    while let event = heap.popFirst() {
      #expect(last.isBefore(event))
      last = event
    }
  }
}
