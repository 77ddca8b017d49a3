import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords

struct GateTiersTests {
  let gate = FakeGate()

  @Test func equalsPassAfterSixBlocks() throws {
    let findings = try gate.run().findings
    #expect(GateVerdict.combined(findings.map(\.verdict)) == .pass)
    let time = try #require(findings.first { $0.metric == "ns_per_op" })
    #expect(time.blocks == 6 && time.effect == 1 && time.null == 1 && time.lower == 1 && time.upper == 1)
    // Six blocks of three arms, a calibration, a self-check and a count.
    #expect(gate.launched.count == 21)
    let timed = gate.launched.dropFirst(2).filter { if case .time = $0.request.mode { true } else { false } }
    #expect(
      timed.allSatisfy { $0.request.mode == .time(repeats: 7, values: 4, leadIn: 10_000_000, budget: 8_000_000) })
    #expect(timed.count { $0.arm == "base" } == 6 && timed.count { $0.arm == "base again" } == 6)
    #expect(gate.progress.map(\.done) == [0, 1, 2, 3, 4, 5] && gate.progress.allSatisfy { $0.total == 20 })
    // All arms of a block begin on the same CPU.
    #expect(timed.map(\.request.place) == (0..<18).map { $0 / 3 })
  }

  /// With its parameters: a benchmark of one's own may have several sets.
  @Test func whatIsNotCalibratedIsNamed() throws {
    let notes = try FakeGate().run().notes
    #expect(
      notes.contains { $0.contains(" overhead/external-add ops=10@1; \(ProgramName.own) gate --calibrate") }, "\(notes)"
    )
  }

  @Test func slowBodiesGetTheirTime() throws {
    _ = try gate.run()
    #expect(gate.timeouts.first == 120 && gate.timeouts.dropFirst().allSatisfy { $0 == 20 })
    gate.timeouts = []
    gate.seconds = 6
    _ = try gate.run()
    #expect(gate.timeouts.first == 120 && gate.timeouts.dropFirst().allSatisfy { $0 == 180 })
  }

  @Test func aNumberThatStaysAwayEndsTheGate() throws {
    gate.resources.tiers = [.wallClock]
    // No logarithm of nothing: the head gives a ratio in three blocks only.
    gate.time = { arm, index in arm.name == "head" ? (index > 9 ? 0 : 200) : 100 }
    let time = try #require(try gate.run().findings.first)
    #expect(time.verdict == .inconclusive && time.blocks == 3 && gate.launched.count == 1 + 3 * GateRule.mostBlocks)
    // Not one.
    gate.time = { arm, _ in arm.name == "head" ? 0 : 100 }
    gate.launched = []
    let (findings, notes) = try gate.run()
    #expect(findings.isEmpty && notes.contains { $0.contains("gives no ns_per_op") } && gate.launched.count == 4)
  }

  @Test func aSlowerHeadIsFound() throws {
    gate.time = { arm, _ in arm.name == "head" ? 121 : 100 }
    let time = try #require(try gate.run().findings.first { $0.metric == "ns_per_op" })
    #expect(time.verdict == .regression && time.blocks == 6)
    #expect(abs((time.effect ?? 0) - 1.21) < 1e-9 && time.base == 100 && time.head == 121)
    #expect(time.lower != nil && time.upper != nil && time.confidence == SignedRank.coverage(6))
    // The switches did not move.
    #expect(try gate.verdict(of: .voluntarySwitchesPerOp) == .pass)
  }

  /// A measure that is narrow ends, and the time goes to the others.
  @Test func timeGoesWhereTheIntervalIsWide() throws {
    gate.resources.tiers = [.wallClock]
    let other = GatedCell(
      CellKey(Scenario(BenchmarkName("a", "b"), [:]), FakeGate.cell.arm), [GatedMetric(.nsPerOp, .wallClock)])
    gate.time = { [unowned gate = gate] _, index in
      gate.asked?.benchmark == "b" ? 100 + 60 * SeededGenerator.uniform(UInt64(index), 5) : 100
    }
    let findings = try gate.run([FakeGate.gated, other]).findings
    let (still, loud) = (try #require(findings.first), try #require(findings.last))
    #expect(still.blocks == 6 && still.verdict == .pass)
    #expect(try #require(loud.blocks) > 24 && loud.benchmark == "a/b")
  }

  @Test func timeEndsTheGateAndSixBlocksAlwaysRun() throws {
    gate.resources.tiers = [.wallClock]
    gate.time = { arm, index in arm.name == "head" ? 50 + 100 * SeededGenerator.uniform(UInt64(index), 5) : 100 }
    gate.seconds = 1
    // 80 seconds hold the calibration and 26 blocks of three processes. The block during which the time ends counts
    // too.
    let some = try #require(try gate.run().findings.first)
    #expect(some.blocks == 27 && some.verdict == .inconclusive && some.reason?.contains("after 27 blocks") == true)
    // Six blocks of processes that take a minute each are longer than that, and then there is four times as much time.
    gate.launched = []
    gate.seconds = 60
    #expect(try #require(try gate.run().findings.first?.blocks) == 25)
  }

  @Test func aFasterHeadIsAnImprovement() throws {
    gate.time = { arm, _ in arm.name == "head" ? 80 : 100 }
    #expect(try gate.verdict(of: .nsPerOp) == .improvement)
  }

  @Test func switchesAreComparedByTheirDifference() throws {
    // Ten times as many of next to none is nothing.
    gate.switches = { $0.name == "head" ? 0.01 : 0.001 }
    #expect(try gate.verdict(of: .voluntarySwitchesPerOp) == .pass)
    gate.switches = { $0.name == "head" ? 1 : 0 }
    #expect(try gate.verdict(of: .voluntarySwitchesPerOp) == .regression)
  }

  @Test func noiseIsInconclusive() throws {
    gate.time = { _, index in 100 + 400 * SeededGenerator.uniform(UInt64(index), 5) }
    #expect(try gate.verdict(of: .nsPerOp) == .inconclusive)
  }

  @Test func disturbedBlocksAreRunAgainButNotForEver() throws {
    gate.resources.tiers = [.wallClock]
    gate.stolen = [0.02]
    let once = try #require(try gate.run().findings.first)
    #expect(once.verdict == .pass && once.blocks == 6 && once.excluded == 1)

    gate.stolen = Array(repeating: 0.02, count: 6)
    let many = try #require(try gate.run().findings.first)
    #expect(many.verdict == .pass && many.blocks == 18 && many.excluded == 6, "a quarter")

    gate.stolen = Array(repeating: 0.02, count: 1_000)
    let all = try #require(try gate.run().findings.first)
    #expect(all.verdict == .inconclusive && all.excluded == 160 && all.blocks == 0)
    #expect(all.reason?.contains("160 of 160") == true)
  }

  @Test func anAllocationMoreFailsAndOneLessIsWelcome() throws {
    gate.allocations = { $0.name == "head" ? 2 : 1 }
    #expect(try gate.verdict(of: .allocationsPerOp) == .regression)
    #expect(try gate.verdict(of: .bytesPerOp) == .regression)
    gate.allocations = { _ in 0 }
    #expect(try gate.verdict(of: .allocationsPerOp) == .improvement)
    gate.allocations = { _ in 1.1 }
    #expect(try gate.verdict(of: .allocationsPerOp) == .pass)
    // What memory is used again can hide is seen where no memory is used again.
    gate.freshAllocations = { $0.name == "head" ? 4 : 3 }
    #expect(try gate.verdict(of: .allocationsPerOp) == .pass)
    #expect(try gate.verdict(of: .freshAllocationsPerOp) == .regression)
    #expect(try gate.verdict(of: .freshBytesPerOp) == .regression)
  }

  /// A worker that is held up in one process makes other counts; what has changed makes them in every process.
  @Test func aCountThatDependsOnTimingHasNotMoved() throws {
    /// A gate of tier 0 whose processes allocate so often, one after another.
    func gate(_ allocations: @escaping (_ process: Int, FakeGate) -> Double) -> FakeGate {
      let gate = FakeGate()
      gate.resources.tiers = [.deterministic]
      gate.allocations = { [unowned gate] _ in allocations(counted(gate) + 1, gate) }
      return gate
    }
    func counted(_ gate: FakeGate) -> Int {
      gate.launched.count { if case .count = $0.request.mode { true } else { false } }
    }
    func allocations(_ gate: FakeGate) throws -> GateFinding {
      try #require(try gate.run(hasBase: false).findings.first { $0.metric == "allocations_per_op" })
    }
    for odd in 1..<CountingTier.agreeingProcesses {
      let some = gate { process, gate in
        gate.retained = process <= odd ? 32 : 0
        return process <= odd ? 1.18 : 1.02
      }
      let findings = try some.run(hasBase: false).findings
      #expect(findings.allSatisfy { $0.verdict == .pass }, "\(odd): \(findings)")
      #expect(counted(some) == odd + 1, "only as many processes as it takes")
    }
    let all = gate { process, _ in process == 3 ? 1.5 : 2 }
    let moved = try allocations(all)
    #expect(moved.verdict == .regression && moved.processes == 6 && moved.head == 1.5 && counted(all) == 6)
    #expect(moved.certainty == "in each of 6 processes")
    // Beyond its bounds on either side is no change either.
    #expect(try allocations(gate { process, _ in process == 1 ? 2 : 0 }).verdict == .pass)
  }

  @Test func leaksAndLateStartsFail() throws {
    gate.retained = 15
    #expect(try gate.verdict(of: .retainedBytesPerOp) == .pass)
    gate.retained = 32
    #expect(try gate.verdict(of: .retainedBytesPerOp) == .regression)
    // A few kilobytes are kept for the next time, however few operations there were.
    gate.retainedOperations = 900
    #expect(try gate.verdict(of: .retainedBytesPerOp) == .pass)
    let zero = GatedCell(FakeGate.cell, [GatedMetric(.lateStarts, .deterministic)])
    #expect(try gate.run([zero]).findings.map(\.verdict) == [.pass])
    gate.lateStarts = 1
    #expect(try gate.run([zero], hasBase: false).findings.map(\.verdict) == [.regression])
  }

  @Test func tierZeroNeedsNoBase() throws {
    gate.resources.tiers = [.deterministic]
    let findings = try gate.run(hasBase: false).findings
    #expect(findings.count == 7 && findings.allSatisfy { $0.tier == 0 && $0.verdict == .pass })
    #expect(gate.launched.count == 2 && gate.launched.allSatisfy { $0.arm == "head" })

    gate.resources.build = "debug"
    let other = try gate.run(hasBase: false)
    #expect(other.findings.map(\.metric) == ["self_check", "retained_bytes_per_op"])
    #expect(other.notes.contains { $0.contains("debug build") })
    gate.resources.countingEnvironment = nil
    #expect(try gate.run(hasBase: false).notes == [Jemalloc.advice])
  }

  @Test func aHeadThatFailsIsARegressionAndABaseThatFailsNothing() throws {
    let crash = ProcessOutcome(ending: .signalled(11), lines: [], lastWords: "trap", nanoseconds: 0)
    gate.failure = { arm, request in
      if case .time(7, _, _, _, _, _, _) = request.mode { arm.name == "head" ? crash : nil } else { nil }
    }
    let head = try #require(try gate.run().findings.last)
    #expect(
      head.verdict == .regression && head.reason == "head: the process was killed by signal 11, its last words: trap")

    // One of two benchmarks cannot be measured on the base.
    let other = GatedCell(
      CellKey(Scenario(BenchmarkName("a", "b"), [:]), FakeGate.cell.arm), [GatedMetric(.nsPerOp, .wallClock)])
    gate.failure = { arm, request in arm.name != "head" && request.benchmark == "b" ? crash : nil }
    let base = try #require(try gate.run([FakeGate.gated, other]).findings.first { $0.benchmark == "a/b" })
    #expect(base.verdict == .inconclusive && base.reason?.hasPrefix("base: the process was killed") == true)

    // All of them.
    #expect { try gate.run([other]) } throws: {
      ($0 as? Complaint)?.code == .unavailable && "\($0)".contains("the base cannot be measured")
    }
  }

  @Test func aBenchmarkThatTheBaseDoesNotHaveIsANote() throws {
    let new = GatedCell(
      CellKey(Scenario(BenchmarkName("a", "new"), [:]), FakeGate.cell.arm), [GatedMetric(.nsPerOp, .wallClock)])
    gate.failure = { arm, request in
      guard arm.name != "head", request.benchmark == "new" else { return nil }
      return ProcessOutcome(
        ending: .exited(0), lines: [ResultLine.absent.text], lastWords: nil, nanoseconds: 0)
    }
    let (findings, notes) = try gate.run([FakeGate.gated, new])
    #expect(findings.allSatisfy { $0.verdict == .pass } && notes.contains { $0.contains("a/new is new") })
    // Nothing but new ones, and their instructions are to be counted too.
    let counted = GatedCell(new.cell, new.metrics, countsInstructions: true)
    var run = GateTiers([counted], gate.resources, runner: gate.runner(), hasBase: true) { gate.failure($0, $1) }
    #expect(try run.run().allSatisfy { $0.verdict == .pass })
    #expect(run.notes.contains { $0.contains("a/new is new") })
  }

  /// What the base cannot be compared in is still run once.
  @Test func aNewBenchmarkThatFailsIsARegression() throws {
    gate.resources.tiers = [.wallClock]
    let new = GatedCell(
      CellKey(Scenario(BenchmarkName("a", "new"), [:]), FakeGate.cell.arm), [GatedMetric(.nsPerOp, .wallClock)])
    gate.failure = { arm, request in
      guard request.benchmark == "new" else { return nil }
      return arm.name == "head"
        ? ProcessOutcome(ending: .signalled(11), lines: [], lastWords: "trap", nanoseconds: 0)
        : ProcessOutcome(ending: .exited(0), lines: [ResultLine.absent.text], lastWords: nil, nanoseconds: 0)
    }
    let (findings, notes) = try gate.run([FakeGate.gated, new])
    let finding = try #require(findings.first { $0.benchmark == "a/new" })
    #expect(finding.verdict == .regression && finding.reason?.hasSuffix("its last words: trap") == true)
    #expect(notes.contains { $0.contains("a/new is new") })
  }

  /// A cell that fails in base and head fails on a quiet machine, too.
  @Test func whatFailsInBothIsNoUnsteadyMachine() throws {
    gate.resources.tiers = [.wallClock]
    let broken = GatedCell(
      CellKey(Scenario(BenchmarkName("a", "b"), [:]), FakeGate.cell.arm), [GatedMetric(.nsPerOp, .wallClock)])
    gate.failure = { arm, request in
      request.benchmark == "b"
        ? ProcessOutcome(ending: .exited(1), lines: [], lastWords: "of \(arm.name)", nanoseconds: 0) : nil
    }
    let finding = try #require(try gate.run([FakeGate.gated, broken]).findings.first { $0.benchmark == "a/b" })
    #expect(finding.verdict == .regression)
    #expect(finding.reason?.contains("of head; the base fails, too: base: ") == true, "\(finding.reason ?? "")")
    // Under valgrind alone: nothing is known of the change.
    gate.resources.tiers = [.steady]
    let counted = GatedCell(FakeGate.cell, [GatedMetric(.cpuNsPerOp, .wallClock)], countsInstructions: true)
    var run = GateTiers([counted], gate.resources, runner: gate.runner(), hasBase: true) { arm, _ in
      ProcessOutcome(ending: .signalled(4), lines: [], lastWords: "of \(arm.name)", nanoseconds: 0)
    }
    #expect(try run.run().allSatisfy { $0.verdict == .pass })
    #expect(run.notes.contains { $0.contains("are not counted, of the base nor of the head") }, "\(run.notes)")
  }

  @Test func instructionsOfTwoRunsWithoutWhatStartingCosts() throws {
    gate.resources.tiers = [.steady]
    var perOperation: [String: Double] = ["old": 500, "new": 500]
    let counted = GatedCell(FakeGate.cell, [GatedMetric(.cpuNsPerOp, .wallClock)], countsInstructions: true)
    /// Which of the processes since the verdict was asked for are disturbed.
    var disturbed: Set<Int> = []
    func verdict() throws -> GateVerdict? {
      var counts = 0
      var run = GateTiers([counted], gate.resources, runner: gate.runner(), hasBase: true) { arm, request in
        guard case .time(let repeats, _, _, _, _, _, _) = request.mode, let each = perOperation[arm.program] else {
          return nil
        }
        counts += 1
        let total = Int(1e8 + each * (disturbed.contains(counts) ? 1.1 : 1) * Double(repeats * 10))
        let lines = [
          ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, 1, count: repeats * 10)).text, "end",
          "==1== Collected : \(total)", "==1== I   refs:      \(total)",
        ]
        return ProcessOutcome(ending: .exited(0), lines: lines, lastWords: nil, nanoseconds: 0)
      }
      let finding = try run.run().first { $0.metric == "instructions_per_op" }
      if let finding { #expect(finding.base == 500) }
      return finding?.verdict
    }
    #expect(try verdict() == .pass)
    perOperation["new"] = 514
    #expect(try verdict() == .pass, "2.8 %")
    perOperation["new"] = 516
    #expect(try verdict() == .regression, "3.2 %")
    // Waiting threads now and then add a tenth: the lowest of three counts each.
    perOperation["new"] = 500
    disturbed = [2, 3, 8, 9]
    #expect(try verdict() == .pass)
    // In the head alone, while the base agrees with itself.
    disturbed = [5]
    #expect(try verdict() == .pass)
    disturbed = []
    perOperation["new"] = nil
    #expect(try verdict() == nil, "a script cannot be counted")
  }

  @Test(arguments: [1.0, 20, 1_700])
  func instructionsOfAShortBodyAreNotThoseOfStarting(perOperation: Double) throws {
    gate.resources.tiers = [.steady]
    let counted = GatedCell(FakeGate.cell, [GatedMetric(.cpuNsPerOp, .wallClock)], countsInstructions: true)
    var more = 1.0
    for seed in UInt64(1)...20 {
      func finding() throws -> GateFinding? {
        var starts = SeededGenerator(seed: seed)
        var run = GateTiers([counted], gate.resources, runner: gate.runner(), hasBase: true) { arm, request in
          guard case .time(let repeats, _, _, _, _, _, _) = request.mode else { return nil }
          // Starting costs as it did where the example of the gate was tried.
          let start = 1e8 + Double(UInt64.random(in: 0..<6_000, using: &starts))
          let total = Int(start + perOperation * (arm.name == "head" ? more : 1) * Double(repeats * 10))
          let lines = [
            ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, 1, count: repeats * 10)).text, "end",
            "==1== Collected : \(total)",
          ]
          return ProcessOutcome(ending: .exited(0), lines: lines, lastWords: nil, nanoseconds: 0)
        }
        return try run.run().first { $0.metric == "instructions_per_op" }
      }
      more = 1
      #expect(try finding()?.verdict == .pass)
      more = 1.035
      #expect(try finding()?.verdict == .regression)
    }
  }

  /// A gate that is interrupted begins no process, and does not look for one for ever.
  @Test(arguments: [0, 1, 2, 9])
  func anInterruptEndsTheBlocksAtOnce(processes: Int) throws {
    gate.interruptedAfter = processes
    var runner = gate.runner()
    var asked = 0
    let more = GatedCell(
      CellKey(Scenario(BenchmarkName("overhead", "local-add"), [:]), FakeGate.cell.arm), FakeGate.gated.metrics)
    _ = runner.blocks(of: [FakeGate.gated, more], withNull: false, usual: 20) { _, _ in
      asked += 1
      // What would be a loop without end must end the test.
      return asked < 1_000
    }
    // A block that has begun has a calibration and two processes; each of those is killed in a real gate.
    #expect(gate.launched.count <= processes + 3 && asked < 20, "\(gate.launched.count) \(asked)")
  }

  /// Slower by less than the threshold passes, and is said.
  @Test func whatIsSurelySlowerWithinTheThresholdIsSaid() throws {
    gate.time = { arm, index in
      (arm.name == "head" ? 107.9 : 100) * (1 + 0.01 * (SeededGenerator.uniform(UInt64(index), 3) - 0.5))
    }
    let finding = try #require(try gate.run().findings.first { $0.metric == "ns_per_op" })
    #expect(finding.verdict == .pass && finding.moved == .worse)
    let reason = try #require(finding.reason)
    #expect(reason.hasPrefix("surely slower by 8 to 9 %") && reason.hasSuffix(" %, within the threshold"), "\(reason)")
    gate.time = { arm, index in
      (arm.name == "head" ? 97 : 100) * (1 + 0.01 * (SeededGenerator.uniform(UInt64(index), 3) - 0.5))
    }
    let faster = try #require(try gate.run().findings.first { $0.metric == "ns_per_op" })
    #expect(faster.verdict == .pass && faster.moved == .better && faster.reason?.hasPrefix("surely faster by ") == true)
    gate.time = { _, index in 100 * (1 + 0.02 * (SeededGenerator.uniform(UInt64(index), 3) - 0.5)) }
    let equal = try #require(try gate.run().findings.first { $0.metric == "ns_per_op" })
    #expect(equal.verdict == .pass && equal.moved == nil && equal.reason == nil, "\(equal)")
  }

  @Test func calibrationFindsHowFarEqualsStray() throws {
    gate.time = { _, index in 100 + 4 * SeededGenerator.uniform(UInt64(index), 3) }
    var runner = gate.runner()
    let entries = try GateCalibration.entries([FakeGate.gated], medians: 30, runner: &runner)
    #expect(entries.map(\.metric) == ["ns_per_op", "voluntary_switches_per_op"])
    // A calibration, and thirty comparisons of twenty blocks.
    #expect(gate.launched.count == 1 + 30 * 20 * 2)
    #expect(entries[0].medians.count == 30 && entries[0].spread > 0 && entries[0].threshold == 1.05)
    #expect(entries[1].spread == 0 && entries[1].threshold == 0.03)
    #expect(!gate.launched.contains { $0.arm == "base again" }, "equals are two")
    gate.stolen = Array(repeating: 1, count: 1_000)
    gate.launched = []
    var disturbed = gate.runner()
    #expect(throws: Complaint.self) {
      try GateCalibration.entries([FakeGate.gated], medians: 30, runner: &disturbed)
    }
  }

  /// A cache that holds one call's operations from the first call on is no leak, and bytes that every operation leaves
  /// behind are one, however long the subject runs.
  @Test func aLeakGrowsAndACacheDoesNot() {
    let perCall = 3_000
    func settled(cached: Int, leakedPerOperation: Int) -> (AllocationCounts.Retained, calls: Int) {
      var calls = 3
      let kept = AllocationCounts.Retained.settled(
        calls: calls, operationsPerCall: perCall,
        bytes: { cached + leakedPerOperation * perCall * calls }, callAgain: { calls += 1 })
      return (kept, calls)
    }
    let (nothing, quick) = settled(cached: 0, leakedPerOperation: 0)
    #expect(!nothing.isLeak && nothing.operations == 9_000 && quick == 3)
    let (cache, some) = settled(cached: 250_000, leakedPerOperation: 0)
    #expect(!cache.isLeak && cache.operations == 18_000 && some == 6)
    let (leak, most) = settled(cached: 0, leakedPerOperation: 17)
    #expect(leak.isLeak && leak.bytesPerOp == 17 && leak.operations == 36_000 && most == 12)
    let (hidden, all) = settled(cached: -50_000, leakedPerOperation: 32)
    #expect(hidden.isLeak && all == 12)
  }

  @Test func aRecordIsMadeBesideBusyThreadsByTurns() {
    #expect((0..<6).map { AllocationCounts.busyThreads(process: $0, processors: 4) } == [0, 1, 5, 0, 1, 5])
  }
}
