import TestSupport
import Testing

@testable import OperationCore

@Suite struct AdmissionTests: AdmissionTesting {
  let pool = EntryPool()

  @Test func `without a limit, a barrier or a suspension nobody needs it`() {
    var admission = Admission()
    var needs = [admission.isNeeded]
    admission.limit = 1
    needs.append(admission.isNeeded)
    admission.limit = .max
    admission.isSuspended = true
    needs.append(admission.isNeeded)
    admission.isSuspended = false
    needs.append(admission.isNeeded)
    admission.addBarrier(sequence: 0)
    needs.append(admission.isNeeded)
    #expect(needs == [false, true, true, false, true])
  }

  @Test func `highest level first, first in first out within`() {
    var admission = Admission()
    for (sequence, level) in [2, 0, 4, 2, 4, 1, 3, 0].enumerated() {
      admission.insert(entry: pool.entry(sequence), level: level, sequence: sequence)
    }
    #expect(startAll(&admission) == [2, 4, 6, 0, 3, 5, 1, 7])
  }

  @Test func `the limit counts what has started and not finished`() {
    var admission = Admission()
    admission.limit = 2
    insert(Array(0..<5), into: &admission)
    #expect(startAll(&admission) == [0, 1])
    admission.finish(sequence: 1, wasRunning: true)
    #expect(startAll(&admission) == [2])
    admission.limit = 4
    #expect(startAll(&admission) == [3, 4])
    admission.limit = 1
    admission.finish(sequence: 0, wasRunning: true)
    admission.finish(sequence: 2, wasRunning: true)
    admission.finish(sequence: 3, wasRunning: true)
    insert([5], into: &admission)
    #expect(startAll(&admission) == [])
    admission.finish(sequence: 4, wasRunning: true)
    #expect(startAll(&admission) == [5])
  }

  @Test func `limit 0 starts nothing, and asks for no ticket`() {
    var admission = Admission()
    admission.limit = 0
    insert([0, 1], into: &admission)
    #expect(takeTickets(&admission) == Self.none)
    #expect(startAll(&admission) == [])
    admission.limit = .max
    #expect(takeTickets(&admission) == [0, 0, 2, 0, 0])
    #expect(startAll(&admission) == [0, 1])
  }

  @Test func `an operation that finished without being started frees no place`() {
    var admission = Admission()
    admission.limit = 1
    insert([0], into: &admission)
    #expect(startAll(&admission) == [0])
    admission.finish(sequence: 1, wasRunning: false)
    let running = admission.running
    #expect(running == 1)
    insert([2], into: &admission)
    #expect(startAll(&admission) == [])
  }

  @Test func `a held place is nobody's until it is freed, and not freed twice`() {
    var admission = Admission()
    admission.limit = 2
    insert([0, 1, 2, 3, 4], into: &admission)
    #expect(startAll(&admission) == [0, 1])
    admission.finish(sequence: 0, wasRunning: true, holdsPlace: true)
    admission.finish(sequence: 5, wasRunning: false, holdsPlace: true)
    #expect(startAll(&admission) == [] && takeTickets(&admission) == Self.none)
    // Whom the finish released comes first.
    admission.insert(entry: pool.entry(6), level: 4, sequence: 6)
    admission.freeHeldPlace()
    #expect(startAll(&admission) == [6])
    admission.freeHeldPlace()
    #expect(startAll(&admission) == [])
    // An engagement counts anew: a place that was held before is none.
    admission.finish(sequence: 1, wasRunning: true, holdsPlace: true)
    admission.engage(bound: 7, unfinished: 4, running: 1)
    admission.freeHeldPlace()
    let running = admission.running
    #expect(running == 1)
  }

  @Test func `a barrier is alone between what came before and what came after`() {
    var admission = Admission()
    admission.addBarrier(sequence: 2)
    insert([3, 2, 1], into: &admission)
    #expect(startAll(&admission) == [1])
    admission.finish(sequence: 1, wasRunning: true)
    #expect(startAll(&admission) == [])
    insert([0], into: &admission)
    #expect(startAll(&admission) == [0])
    admission.finish(sequence: 0, wasRunning: true)
    #expect(startAll(&admission) == [2])
    var hasBarrier = admission.hasBarrier
    #expect(hasBarrier)
    admission.finish(sequence: 2, wasRunning: true)
    hasBarrier = admission.hasBarrier
    #expect(!hasBarrier)
    #expect(startAll(&admission) == [3])
  }

  @Test func `a hundred barriers in a row, and the memory of those that are over`() {
    var admission = Admission()
    for sequence in 0..<100 { admission.addBarrier(sequence: sequence) }
    insert(Array((0..<100).reversed()), into: &admission)
    for sequence in 0..<100 {
      #expect(startAll(&admission) == [sequence])
      admission.finish(sequence: sequence, wasRunning: true)
    }
    let isNeeded = admission.isNeeded
    #expect(!isNeeded)
  }

  @Test func `entries of a barrier that moved all come out, so that each gives back what it holds`() {
    var admission = Admission()
    admission.addBarrier(sequence: 0)
    admission.insert(entry: pool.entry(0), level: 2, sequence: 0)
    admission.insert(entry: pool.entry(1), level: 4, sequence: 0)
    var entries: Set<Int> = []
    while let entry = admission.next() { entries.insert(pool.sequence(entry) ?? -1) }
    #expect(entries == [0, 1])
  }

  @Test func `engaged late, it knows how many of those before are unfinished`() {
    var admission = Admission()
    // Ten numbers taken; four operations left, one of them running.
    admission.limit = 2
    admission.engage(bound: 10, unfinished: 4, running: 1)
    let running = admission.running
    #expect(running == 1)
    admission.addBarrier(sequence: 10)
    insert([3, 5, 8, 10], into: &admission)
    #expect(startAll(&admission) == [3])
    for sequence in [1, 3] { admission.finish(sequence: sequence, wasRunning: true) }
    #expect(startAll(&admission) == [5, 8])
    admission.finish(sequence: 5, wasRunning: true)
    #expect(startAll(&admission) == [])
    admission.finish(sequence: 8, wasRunning: true)
    #expect(startAll(&admission) == [10])
  }

  @Test func `as many tickets as may start, and each only once`() {
    var admission = Admission()
    admission.limit = 3
    insert([0], level: 1, into: &admission)
    #expect(takeTickets(&admission) == [0, 1, 0, 0, 0])
    // The ticket that is on its way is less urgent than these: each of the three places gets a more urgent one.
    insert([1, 2, 3, 4], level: 4, into: &admission)
    #expect(takeTickets(&admission) == [0, 0, 0, 0, 3])
    #expect(takeTickets(&admission) == Self.none)
    admission.useTicket(level: 4)
    let first = admission.next()
    #expect(pool.sequence(first) == 1)
    admission.start()
    #expect(takeTickets(&admission) == Self.none)
    admission.isSuspended = true
    admission.useTicket(level: 4)
    let second = admission.next()
    #expect(second == nil)
    #expect(takeTickets(&admission) == Self.none)
    admission.isSuspended = false
    #expect(takeTickets(&admission) == [0, 0, 0, 0, 1])
    let out = admission.tickets
    #expect(out.indices.map { out[$0] } == [0, 1, 0, 0, 2])
  }

  @Test func `a ticket that was overtaken finds nothing, and counts again for what comes later`() {
    var admission = Admission()
    admission.limit = 1
    insert([0], level: 0, into: &admission)
    #expect(takeTickets(&admission) == [1, 0, 0, 0, 0])
    insert([1], level: 4, into: &admission)
    #expect(takeTickets(&admission) == [0, 0, 0, 0, 1])
    admission.useTicket(level: 4)
    let first = admission.next()
    #expect(pool.sequence(first) == 1)
    admission.start()
    // The other ticket is still on its way when the place comes free: no further one for what is no more urgent.
    admission.finish(sequence: 1, wasRunning: true)
    #expect(takeTickets(&admission) == Self.none)
    admission.useTicket(level: 0)
    let second = admission.next()
    #expect(pool.sequence(second) == 0)
  }

  @Test func `never more tickets on their way than asked for`() {
    var admission = Admission()
    insert(Array(0..<100), into: &admission)
    #expect(takeTickets(&admission, atMost: 4) == [0, 0, 4, 0, 0])
    #expect(takeTickets(&admission, atMost: 4) == Self.none)
    for _ in 0..<100 {
      admission.useTicket(level: 2)
      _ = admission.next()
      admission.start()
      _ = takeTickets(&admission, atMost: 4)
      let out = admission.tickets[2]
      #expect(out <= 4)
    }
    let running = admission.running
    #expect(running == 100)
  }

  /// Everything at random against the naive model, as the controller would call it.
  @Test(arguments: 1...60)
  func `does what the naive model does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var admission = Admission()
    var model = AdmissionModel()
    for _ in 0..<400 {
      step(&admission, &model, &random)
      let running = admission.running
      #expect(running == model.running)
      let runningAt = admission.runningAt
      let levels = (0..<5).map { runningAt[$0] }
      #expect(levels == model.runningAt)
      let new = takeTickets(&admission)
      let starting = model.startingNow.map(\.level)
      let tickets = admission.tickets
      for level in 0..<5 {
        let urgent = starting.count { $0 >= level }
        let out = (level..<5).reduce(0) { $0 + tickets[$1] }
        #expect(out >= urgent)
        if new[level] > 0 { #expect(out == urgent) }
      }
      insertQuietly(&admission, &model)
    }
  }

  /// An operation of the quiet level needs no visit: no ticket follows from its insertion. One level above, a ticket
  /// may follow.
  private func insertQuietly(_ admission: inout Admission, _ model: inout AdmissionModel) {
    let quiet = admission.quietLevel
    guard let member = model.members.first(where: { $0.stage == .pending && $0.level <= quiet }) else { return }
    admission.insert(entry: pool.entry(member.sequence), level: member.level, sequence: member.sequence)
    model.becomeReady(member.sequence)
    #expect(takeTickets(&admission) == Self.none)
  }

  @Test func `it is quiet where no place is free, or tickets are on their way for every free place`() {
    var admission = Admission()
    #expect(quietLevel(&admission) == -1)
    admission.isSuspended = true
    #expect(quietLevel(&admission) == 4)
    admission.isSuspended = false
    admission.limit = 2
    #expect(quietLevel(&admission) == -1)
    insert([0, 1, 2], level: 3, into: &admission)
    #expect(takeTickets(&admission) == [0, 0, 0, 2, 0] && quietLevel(&admission) == 3)
    admission.useTicket(level: 3)
    #expect(startAll(&admission) == [0, 1] && quietLevel(&admission) == 4)
    admission.finish(sequence: 0, wasRunning: true)
    // One ticket is still on its way, for the one free place.
    #expect(quietLevel(&admission) == 3)
    admission.useTicket(level: 3)
    #expect(quietLevel(&admission) == -1)
  }

  private func quietLevel(_ admission: inout Admission) -> Int { admission.quietLevel }

  @Test func `what is ready is taken out the most urgent first, whatever the limit says`() {
    var admission = Admission()
    admission.limit = 0
    insert([0, 1], level: 1, into: &admission)
    insert([2], level: 4, into: &admission)
    insert([3], level: 1, into: &admission)
    var taken: [Int?] = []
    while let entry = admission.takeReady() { taken.append(pool.sequence(entry)) }
    #expect(taken == [2, 0, 1, 3])
    admission.limit = .max
    #expect(takeTickets(&admission) == Self.none)
  }

  private func step(_ admission: inout Admission, _ model: inout AdmissionModel, _ random: inout SeededGenerator) {
    switch Int.random(in: 0..<24, using: &random) {
    case 0:
      admission.limit = [0, 1, 2, 5, .max].randomElement(using: &random) ?? 0
      model.limit = admission.limit
    case 18:
      // At most two bounds, since three leave hardly anything to start.
      var below = [Int](repeating: .max, count: 5)
      for _ in 0..<2 {
        below[Int.random(in: 1..<5, using: &random)] = [0, 1, 2, 4, .max].randomElement(using: &random) ?? 0
      }
      model.limitsBelow = below
      admission.limitsBelow = .init { below[$0] }
    case 19:
      guard let member = model.members.filter({ $0.stage == .running }).randomElement(using: &random) else { return }
      let level = Int.random(in: 0..<5, using: &random)
      admission.moveRunning(from: member.level, to: level)
      model.members[member.sequence].level = level
    case 1:
      admission.isSuspended.toggle()
      model.isSuspended = admission.isSuspended
    case 2:
      // The controller adds barriers only while it counts every number before them.
      admission.addBarrier(sequence: model.members.count)
      model.add(isBarrier: true, level: 2)
    case 3..<8: model.add(isBarrier: false, level: Int.random(in: 0..<5, using: &random))
    case 8..<12:
      guard let member = model.members.filter({ $0.stage == .pending }).randomElement(using: &random) else { return }
      admission.insert(entry: pool.entry(member.sequence), level: member.level, sequence: member.sequence)
      model.becomeReady(member.sequence)
    case 12..<17:
      let tickets = admission.tickets
      if let level = (0..<5).filter({ tickets[$0] > 0 }).randomElement(using: &random) {
        admission.useTicket(level: level)
      }
      let entry = admission.next()
      let next = pool.sequence(entry)
      #expect(next == model.next)
      guard let next else { return }
      admission.start(level: model.members[next].level)
      model.members[next].stage = .running
    default:
      guard let member = model.members.filter({ $0.stage == .running }).randomElement(using: &random) else { return }
      admission.finish(sequence: member.sequence, level: member.level)
      model.members[member.sequence].stage = .finished
    }
  }
}
