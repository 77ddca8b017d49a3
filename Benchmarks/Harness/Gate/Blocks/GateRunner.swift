import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Runs blocks of base, head, and base again. `GateRule` decides what the numbers mean.
package struct GateRunner {
  /// A process of the base or the head that gave no number.
  package struct Failure: Error, Hashable, Sendable {
    package let isBase: Bool
    /// The program answered that the program has no such cell.
    package let isAbsent: Bool
    package let reason: String

    package init(isBase: Bool, isAbsent: Bool = false, reason: String) {
      (self.isBase, self.isAbsent, self.reason) = (isBase, isAbsent, reason)
    }

    /// The head has the benchmark and the base does not.
    var isNew: Bool { isBase && isAbsent }

    /// Says of a failure of the head that the cell fails in the base, too.
    func inBoth(_ base: Failure) -> Failure {
      Failure(isBase: false, reason: "\(reason); the base fails, too: \(base.reason)")
    }
  }

  /// The numbers of base, head and base again, and whether the machine was disturbed meanwhile.
  package struct Triple: Sendable {
    package let base: [Metric: Double]
    package let head: [Metric: Double]
    package let again: [Metric: Double]
    package let isExcluded: Bool

    /// Nil when one of the three lacks the number.
    package func paired(_ metric: Metric) -> PairedBlock? {
      let scale = GateScale(metric)
      guard let base = base[metric], let head = head[metric], let again = again[metric],
        let effect = scale.effect(head, base), let null = scale.effect(again, base)
      else { return nil }
      return PairedBlock(effect: effect, null: null, isExcluded: isExcluded)
    }
  }

  package let base: GateArm
  package let head: GateArm
  private let effort: GateEffort
  let seed: UInt64
  let spin: Spin
  private let effects: GateEffects
  private var repeats: [CellKey: Int] = [:]
  /// The seconds after which a process of a cell counts as hung, once one process of the cell has ended.
  private var timeouts: [CellKey: Double] = [:]
  private var processes = 0
  /// Whether the gate stood still during a process of the block that runs.
  private var stoodStill = false
  /// How long all processes took together.
  private var nanoseconds: UInt64 = 0
  /// The arms of which a process has left another process behind, each said once.
  private var leavers: Set<String> = []
  /// The cells of an arm whose body is too short to be measured, each said once.
  private var short: Set<String> = []

  package init(base: GateArm, head: GateArm, effort: GateEffort, seed: UInt64, spin: Spin, effects: GateEffects) {
    (self.base, self.head, self.effort) = (base, head, effort)
    (self.seed, self.spin, self.effects) = (seed, spin, effects)
  }

  /// Runs blocks of the cells in rounds: each cell that is open gets one block. The blocks of a cell are so spread over
  /// the time. A cell ends when `isOpen` is false for its blocks so far, or when one of its processes fails. All cells
  /// end when the user interrupts the gate.
  ///
  /// - Parameters:
  ///   - withNull: whether a second base runs. Otherwise the numbers of the first base stand for the second.
  ///   - usual: how many blocks a cell will probably get, for the progress.
  ///   - mostSeconds: after this time no round begins, but there is always time for four times as many rounds as an
  ///     interval needs.
  package mutating func blocks(
    of cells: [GatedCell], withNull: Bool = true, usual: Int, mostSeconds: Double = .infinity,
    while isOpen: (GatedCell, [Triple]) -> Bool
  ) -> [CellKey: Result<[Triple], Failure>] {
    var found: [CellKey: Result<[Triple], Failure>] = [:]
    var open = cells
    var done = 0
    var round = 0
    let began = effects.now()
    var seconds: Double { Double(effects.now() - began) / 1e9 }
    var secondsOfFewest = Double.infinity
    while !open.isEmpty, !effects.isInterrupted(), seconds < max(mostSeconds, 4 * secondsOfFewest) {
      let total = done + open.count * max(1, usual - round)
      var random = SeededGenerator(seed: seed, purpose: "gate-order-\(round)")
      for cell in open.map(\.cell).shuffled(using: &random) where !effects.isInterrupted() {
        effects.showProgress(done, total, "block \(round + 1): \(cell)")
        done += 1
        let sofar = (try? found[cell]?.get()) ?? []
        found[cell] = triple(cell, block: round, withNull).map { sofar + [$0] }
      }
      open = open.filter { gated in (try? found[gated.cell]?.get()).map { isOpen(gated, $0) } ?? false }
      round += 1
      if round == GateRule.fewestBlocks { secondsOfFewest = seconds }
    }
    return found
  }

  /// Whether a cell may have another block when `counted` blocks are wanted: no more than a quarter may be excluded.
  package static func mayGoOn(_ triples: [Triple], counted: Int) -> Bool {
    triples.count { !$0.isExcluded } < counted && triples.count < GateRule.mostRun(for: counted)
  }

  /// How often a block is made while the gate stands still.
  private static let mostAttempts = 3

  /// A block in which the gate stood still is made again. What it says is nobody's, its failures included.
  private mutating func triple(_ cell: CellKey, block: Int, _ withNull: Bool) -> Result<Triple, Failure> {
    var made = once(cell, block: block, withNull)
    for _ in 1..<Self.mostAttempts where stoodStill && !effects.isInterrupted() {
      effects.say("the gate stood still in a block of \(cell), which is made again")
      made = once(cell, block: block, withNull)
    }
    return made
  }

  private mutating func once(_ cell: CellKey, block: Int, _ withNull: Bool) -> Result<Triple, Failure> {
    stoodStill = false
    let arms = [base, head] + (withNull ? [base.named("\(base.name) again")] : [])
    do throws(Failure) {
      let repeats = try repeats(cell)
      let stolen = effects.watchSteal()
      let mode = MeasureRequest.Mode.time(
        repeats: repeats, values: effort.process.values, leadIn: effort.process.leadIn, budget: effort.process.budget)
      var numbers: [[Metric: Double]] = arms.map { _ in [:] }
      for index in LatinSquare(size: arms.count, seed: seed).order(block: block) {
        numbers[index] = Self.medians(try run(arms[index], cell, mode, place: block, isBase: index != 1))
      }
      return .success(
        Triple(
          base: numbers[0], head: numbers[1], again: numbers[withNull ? 2 : 0],
          isExcluded: stoodStill || stolen() > SystemLoad.largestStolenShare))
    } catch {
      return .failure(error)
    }
  }

  /// The base decides the number of repeats, once, so that both sides do the same work.
  private mutating func repeats(_ cell: CellKey) throws(Failure) -> Int {
    if let known = repeats[cell] { return known }
    let mode = MeasureRequest.Mode.calibrate(
      target: effort.process.target, limit: .max, leadIn: effort.process.leadIn)
    let lines = try run(base, cell, mode, isBase: true)
    for case .repeats(let count) in lines {
      repeats[cell] = count
      return count
    }
    throw Failure(isBase: true, reason: "the base does not say how often it is to repeat")
  }

  /// Runs one process and gives its lines; throws the reason when the process failed.
  package mutating func run(
    _ arm: GateArm, _ cell: CellKey, _ mode: MeasureRequest.Mode, _ environment: [String: String] = [:],
    place: Int? = nil, isBase: Bool
  ) throws(Failure) -> [ResultLine] {
    let request = MeasureRequest(cell: cell, mode: mode, seed: seed, spin: spin, place: place)
    processes += 1
    let padding = EnvironmentPadding.variables(process: processes, seed: seed)
    let timeout = timeouts[cell] ?? effort.firstTimeout
    let outcome = effects.launch(arm, request, environment.merging(padding) { $1 }, timeout)
    nanoseconds += outcome.nanoseconds
    if let words = outcome.leftBehind(by: cell), leavers.insert(arm.name).inserted {
      effects.say("\(arm.name): \(words)")
    }
    if outcome.stoodStill > 0 { stoodStill = true }
    let lines = outcome.results
    guard let failure = outcome.failure(mode) else {
      let own = max(effort.timeout, effort.timeoutFactor * Double(outcome.nanoseconds) / 1e9)
      timeouts[cell] = timeouts[cell] ?? own
      if let words = lines.lazy.compactMap({ $0.shortness(of: cell) }).first,
        short.insert("\(arm.program) \(cell)").inserted
      {
        effects.say("\(arm.name): \(words)")
      }
      return lines
    }
    throw Failure(isBase: isBase, isAbsent: lines.contains(.absent), reason: "\(arm.name): \(failure)")
  }

  /// How long a process took so far, in seconds: the mean of all.
  var secondsOfProcess: Double { Double(nanoseconds) / 1e9 / Double(max(1, processes)) }

  /// Whether the head fails a cell by itself; nil when the head passes. What the base cannot be compared in is still
  /// checked.
  mutating func checkHead(_ cell: CellKey) -> Failure? {
    do throws(Failure) {
      _ = try run(head, cell, .time(repeats: 1, values: 1, leadIn: 1), isBase: false)
      return nil
    } catch { return error }
  }

  /// The median of each number over the values of a process.
  package static func medians(_ lines: [ResultLine]) -> [Metric: Double] {
    var values: [Metric: [Double]] = [:]
    for case .reading(_, let reading) in lines { values[reading.metric, default: []].append(reading.value) }
    return values.mapValues(Statistics.median)
  }
}
