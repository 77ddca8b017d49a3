import LaboratorySupport
import Testing

@testable import HarnessPlanning
@testable import HarnessWords

/// The shards of a plan are the plan: each process is in one shard, whatever the seed and the number of shards.
struct ShardTests {
  static func plan(blocks: Int, seed: UInt64 = 1, isAblation: Bool = false) -> Plan {
    let effort = Effort(blocks: blocks, values: 2, leadIn: 1_000, target: 1_000, budget: 2_000, longBlocks: blocks)
    let arms =
      isAblation ? (0...12).map { Arm(subject: "stealing\($0)", workers: 2) } : [Sample.ours, Sample.reference]
    let scenarios = ["external-add", "local-add", "construct"].map { name in
      PlannedScenario(
        scenario: Scenario(BenchmarkName("overhead", name), ["ops": "10"]), arms: arms, incapable: [],
        repeats: .calibrated(), headlines: [.nsPerOp], countsAllocations: !isAblation && name != "construct", notes: [])
    }
    var plan = Plan(scenarios: scenarios, effort: effort, seed: seed)
    plan.isAblation = isAblation
    return plan
  }

  static func cut(_ plan: Plan, into count: Int) throws -> [Plan] {
    try Shard(number: 1, of: count)!.all.map { try plan.cut($0) }
  }

  @Test(arguments: ["1/1", "3/20", "20/20", "100000/100000"])
  func whatIsAShard(text: String) { #expect(Shard(text)?.description == text) }

  @Test(arguments: [
    "", "3", "0/3", "4/3", "-1/3", "1/0", "1/-1", "1/2/3", "a/b", "1/", "/2", "1 / 2", "1/100001",
    "99999999999999999999/1",
  ])
  func whatIsNone(text: String) { #expect(Shard(text) == nil) }

  @Test func sharesPartitionTheThings() {
    for seed in UInt64(0)..<60 {
      for things in [1, 2, 7, 12, 40] {
        for count in [1, 2, 3, 5, 8, 20, 64] {
          let shares = Shard(number: 1, of: count)!.all.map { $0.share(of: things, seed: seed, purpose: "x") }
          #expect(shares.flatMap { $0 }.sorted() == Array(0..<things), "seed \(seed), \(things) in \(count)")
          #expect(shares.allSatisfy { $0 == $0.sorted() })
          let sizes = shares.map(\.count)
          #expect(sizes.max()! - sizes.min()! <= 1, "seed \(seed), \(things) in \(count): \(sizes)")
        }
      }
    }
  }

  @Test func theSeedDecides() {
    let shard = Shard(number: 2, of: 4)!
    let shares = (UInt64(0)..<20).map { shard.share(of: 40, seed: $0, purpose: "x") }
    #expect(shares == (UInt64(0)..<20).map { shard.share(of: 40, seed: $0, purpose: "x") })
    #expect(Set(shares).count == 20)
    #expect(shard.share(of: 40, seed: 1, purpose: "y") != shares[1])
    // All even blocks would begin on the same of two CPUs.
    #expect(shares.allSatisfy { Set($0.map { $0 % 2 }).count == 2 })
  }

  @Test(arguments: [false, true])
  func shardsOfAPlanAreThePlan(isAblation: Bool) throws {
    for seed in UInt64(1)...20 {
      for (blocks, count) in [(1, 1), (7, 3), (12, 12), (24, 5)] {
        let whole = Self.plan(blocks: blocks, seed: seed, isAblation: isAblation)
        let parts = try Self.cut(whole, into: count)
        let expected = Set(whole.steps).subtracting(whole.calibrations)
        let found = parts.flatMap { $0.steps.filter { !whole.calibrations.contains($0) } }
        #expect(found.count == expected.count && Set(found) == expected, "seed \(seed), \(blocks) in \(count)")
        // Each machine calibrates for itself.
        for part in parts { #expect(part.calibrations == whole.calibrations) }
        // All arms of a block are in one shard, in the order of the whole plan.
        for part in parts {
          for block in part.blockNumbers { #expect(part.timedSteps(block: block) == whole.timedSteps(block: block)) }
          for block in 0...blocks + 1 {
            #expect(part.holds(block: block) == (block == 0 || part.blockNumbers.contains(block)))
          }
        }
        for scenario in whole.scenarios.map(\.scenario) {
          #expect(parts.count { $0.countings.contains { $0.cell.scenario == scenario } } <= 1)
        }
        let sum = parts.reduce(0) { $0 + $1.plannedSeconds - $1.otherSeconds }
        #expect(abs(sum - (whole.plannedSeconds - whole.otherSeconds)) < 1e-9)
      }
    }
  }

  @Test func noMoreShardsThanBlocks() throws {
    #expect(throws: Complaint.self) { try Self.plan(blocks: 3).cut(Shard(number: 1, of: 4)!) }
    do { _ = try Self.plan(blocks: 3).cut(Shard(number: 1, of: 4)!) } catch let complaint as Complaint {
      #expect(
        complaint.code == .usage && complaint.description.contains("1/4") && complaint.description.contains("3 blocks"))
    }
  }

  /// Each publication has the finished blocks, whole, and nothing of a block that is not finished.
  @Test func finishedBlocksArePublished() throws {
    let plan = try Self.cut(Self.plan(blocks: 7), into: 3)[1]
    let effects = FakeEffects()
    let result = effects.run(plan, counting: ["LD_PRELOAD": "x"])
    #expect(
      effects.published.map { Set($0.map(\.block)) } == plan.blockNumbers.indices.map { Set(plan.blockNumbers[...$0]) })
    for rows in effects.published { #expect(rows.count == Set(rows.map(\.block)).count * 6) }
    #expect(result.rows.filter { $0.block > 0 } == effects.published.last)
    // A whole plan publishes at its end only.
    let unsharded = FakeEffects()
    _ = unsharded.run(Self.plan(blocks: 3))
    #expect(unsharded.published.isEmpty)
  }

  @Test func anInterruptedBlockIsNotPublished() throws {
    let plan = try Self.cut(Self.plan(blocks: 6), into: 2)[0]
    let effects = FakeEffects()
    effects.answer = { request in
      guard effects.timed.count > 8 else { return FakeEffects.success(request) }
      effects.isInterrupted = true
      return FakeEffects.outcome(.interrupted, [])
    }
    _ = effects.run(plan)
    #expect(effects.published.map { Set($0.map(\.block)) } == [[plan.blockNumbers[0]]])
  }

  /// A batch system ends all processes of a job. What it did to a measuring process is no failure of the subject.
  @Test(arguments: [15, 9, 2, 1] as [Int32])
  func aProcessThatWasStoppedWithTheRunHasNotFailed(signal: Int32) {
    let stopped = FakeEffects()
    stopped.answer = {
      $0.subject == "stealing" ? FakeEffects.outcome(.signalled(signal), []) : FakeEffects.success($0)
    }
    stopped.whileWaiting = { stopped.isInterrupted = true }
    let result = stopped.run(Self.plan(blocks: 2))
    #expect(result.failures.isEmpty && result.wasInterrupted && stopped.waits == 1)
    // Where nobody stops the run, the process has failed: the kernel kills what takes too much memory.
    let alone = FakeEffects()
    alone.answer = stopped.answer
    #expect(alone.run(Self.plan(blocks: 2)).failures.count == 3)
    #expect(alone.waits == 3)
  }

  @Test func aCrashIsAFailureAtOnce() {
    let effects = FakeEffects()
    effects.answer = { $0.subject == "stealing" ? FakeEffects.outcome(.signalled(11), []) : FakeEffects.success($0) }
    #expect(effects.run(Self.plan(blocks: 2)).failures.count == 3 && effects.waits == 0)
  }
}
