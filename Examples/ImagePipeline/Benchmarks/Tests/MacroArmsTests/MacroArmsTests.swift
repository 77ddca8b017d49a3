import Dispatch
import MacroArms
import Testing

@Suite struct ScriptTests {
  @Test func sessionIsTheSeeds() {
    let (one, same, other) = (
      Script.session(seed: 1, seconds: 4), Script.session(seed: 1, seconds: 4), Script.session(seed: 2, seconds: 4)
    )
    #expect(one.ticks == same.ticks)
    #expect(one.ticks != other.ticks)
  }

  @Test(arguments: 1...20) func sessionStaysInTheList(seed: UInt64) {
    let ticks = Script.session(seed: seed, seconds: 6).ticks
    #expect(ticks.first?.visible == 0..<60)
    #expect(ticks.first?.time == 0)
    for (tick, next) in zip(ticks, ticks.dropFirst()) { #expect(tick.time < next.time) }
    for tick in ticks {
      #expect(tick.visible.count == 60)
      #expect(tick.visible.lowerBound >= 0 && tick.visible.upperBound <= 2_000)
      #expect(tick.ahead.lowerBound >= 0 && tick.ahead.upperBound <= 2_000 && tick.ahead.count <= 60)
      #expect(!tick.visible.overlaps(tick.ahead))
    }
    #expect(ticks.last?.isFast == false)
    #expect(ticks.contains { $0.isFast })
  }

  @Test func nearestComesFirst() {
    let up = Script.Tick(time: 0, visible: 10..<12, ahead: 7..<10)
    let down = Script.Tick(time: 0, visible: 10..<12, ahead: 12..<15)
    #expect(up.nearestFirst == [9, 8, 7])
    #expect(down.nearestFirst == [12, 13, 14])
  }

  @Test func publishedScriptsShowTheirCells() {
    let last = Situation.published.map { ($0.name, $0.script(1).ticks.last?.visible.count) }
    #expect(last.map(\.0) == ["open", "open-large", "page", "scroll"])
    #expect(last.map(\.1) == [12, 12, 1, 40])
  }
}

/// Short sessions without sockets.
@Suite struct ArmTests {
  static let files = Situation.Files(distinct: 8, width: 64, height: 48)
  static let network = Situation.Network(latencyMilliseconds: 3, bytesPerSecond: 4e6)
  static let pictures = Result { try PictureSet(seed: network.seed, files) }

  private func play(_ kind: ArmKind, without feature: Feature? = nil, _ script: Script) async throws -> Outcome {
    let pictures = try Self.pictures.get()
    let workshop = Workshop(address: "http://here", transport: SimulatedServer(pictures, Self.network))
    return await play(script, on: kind.arm(workshop, without: feature), workshop, pictures, without: feature)
  }

  /// A player blocks its thread, so it gets one of its own.
  private func play(
    _ script: Script, on arm: any Arm, _ workshop: Workshop, _ pictures: PictureSet, without feature: Feature? = nil
  ) async -> Outcome {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "user").async {
        let player = Player(arm, workshop, pictures, without: feature)
        continuation.resume(returning: player.play(script, patience: 60))
      }
    }
  }

  @Test(arguments: ArmKind.allCases) func noPictureIsLost(_ kind: ArmKind) async throws {
    var list = Script.List()
    list.pictures = 400
    let script = Script.session(seed: 5, seconds: 1, list: list)
    let outcome = try await play(kind, script)
    #expect(outcome.lost == 0)
    #expect(outcome.visits >= 60)
    #expect(outcome.stayed > 0 && outcome.prompt <= outcome.stayed)
    #expect(outcome.decodes.all > 0 && outcome.decodes.wasted >= 0)
    #expect(outcome.decodes.wasted <= outcome.decodes.all && outcome.decodesNotSeen >= 0)
    #expect(outcome.bytes > 0 && outcome.bytesForNothing >= 0 && outcome.bytesForNothing < outcome.bytes)
    #expect(outcome.requests >= outcome.decodes.all)
  }

  @Test(arguments: Feature.allCases) func noPictureIsLostWithout(_ feature: Feature) async throws {
    var list = Script.List()
    list.pictures = 400
    let outcome = try await play(.stealing, without: feature, Script.session(seed: 7, seconds: 0.8, list: list))
    #expect(outcome.lost == 0)
  }

  /// Cells that leave before their pictures come, and come back.
  @Test(arguments: ArmKind.allCases) func cellsComeAndGo(_ kind: ArmKind) async throws {
    let ticks = (0..<60).map { number in
      let first = number.isMultiple(of: 2) ? 0 : 20
      return Script.Tick(
        time: Double(number) * 0.01, visible: first..<first + 20, ahead: 20 - first..<40 - first,
        isFast: number % 5 == 4 && number < 59)
    }
    let end = Script.Tick(time: 0.6, visible: 0..<20, ahead: 20..<40)
    let outcome = try await play(kind, Script(ticks: ticks + [end]))
    #expect(outcome.lost == 0)
  }

  /// A cell that leaves before its picture comes, and one whose picture comes while it is there.
  @Test func percentilesCountWhatWasNotShown() async throws {
    let pictures = try Self.pictures.get()
    let slow = Situation.Network(latencyMilliseconds: 500, sigma: 0, bytesPerSecond: 4e6)
    let workshop = Workshop(address: "http://here", transport: SimulatedServer(pictures, slow))
    let script = Script(ticks: [
      Script.Tick(time: 0, visible: 0..<1, ahead: 1..<1), Script.Tick(time: 0.25, visible: 1..<2, ahead: 2..<2),
    ])
    let outcome = await play(script, on: ArmKind.dispatch.arm(workshop), workshop, pictures)
    #expect(outcome.lost == 0 && outcome.visits == 2 && outcome.neverShown == 1)
    #expect(outcome.latencies.count == 2 && outcome.prompt == 0 && outcome.stayed == 2)
    #expect(outcome.latency(0) >= 0.25 && outcome.latency(1) >= 0.5)
    #expect(outcome.decodes.all - outcome.decodes.wasted == 1)
  }

  @Test func missingPicturesAreCounted() async throws {
    let pictures = try Self.pictures.get()
    let other = try PictureSet(seed: 99, Self.files)
    let workshop = Workshop(address: "http://here", transport: SimulatedServer(other, Self.network))
    let script = Script(ticks: [Script.Tick(time: 0, visible: 0..<5, ahead: 5..<5)])
    let outcome = await play(script, on: ArmKind.stealing.arm(workshop), workshop, pictures)
    // Five are wrong, and five are not on the screen.
    #expect(outcome.lost == 10)
  }
}
