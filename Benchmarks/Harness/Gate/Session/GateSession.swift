/// Runs blocks of base, head, and base again. `GateRule` decides what the numbers mean.
package struct GateSession {
  /// A process of the base or the head that gave no number.
  package struct Failure: Error, Hashable, Sendable {
    package let isBase: Bool
    /// The program answered that the program has no such cell.
    package let isAbsent: Bool
    package let reason: String

    package init(isBase: Bool, isAbsent: Bool = false, reason: String) {
      self.isBase = isBase
      self.isAbsent = isAbsent
      self.reason = reason
    }

    /// The head has the benchmark and the base does not.
    var isNew: Bool { isBase && isAbsent }
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
  private let world: GateWorld
  private var repeats: [CellKey: Int] = [:]
  /// The seconds after which a process of a cell counts as hung, once one process of the cell has ended.
  private var timeouts: [CellKey: Double] = [:]
  private var processes = 0
  /// The arms of which a process has left another process behind, each said once.
  private var leavers: Set<String> = []

  package init(base: GateArm, head: GateArm, effort: GateEffort, seed: UInt64, spin: Spin, world: GateWorld) {
    self.base = base
    self.head = head
    self.effort = effort
    self.seed = seed
    self.spin = spin
    self.world = world
  }

  /// Runs blocks of the cells until `counted` blocks of each cell count, or more than a quarter had to be excluded.
  /// With `reversed`, the arms of each block run in the opposite order. Without `withNull` there is no second base, and
  /// the numbers of the first base stand for the second. `after` blocks were run before, and the orders go on from
  /// there.
  package mutating func blocks(
    of cells: [GatedCell], counted: Int, reversed: Bool, withNull: Bool = true, after before: Int = 0
  ) -> [CellKey: Result<[Triple], Failure>] {
    var found: [CellKey: Result<[Triple], Failure>] = [:]
    let most = GateRule.mostBlocks(for: counted)
    var done = 0
    for block in before..<(before + most) {
      var random = SeededGenerator(seed: seed, purpose: "gate-order-\(reversed)-\(block)")
      for cell in cells.map(\.cell).shuffled(using: &random) where !world.isInterrupted() {
        let sofar: [Triple]
        switch found[cell] {
        case nil: sofar = []
        case .success(let triples): sofar = triples
        case .failure: continue
        }
        guard sofar.count(where: { !$0.isExcluded }) < counted else { continue }
        world.showProgress(done, max(done + 1, cells.count * counted), "block \(block + 1): \(cell)")
        done += 1
        found[cell] = triple(cell, block: block, reversed: reversed, withNull).map { sofar + [$0] }
      }
    }
    return found
  }

  private mutating func triple(
    _ cell: CellKey, block: Int, reversed: Bool, _ withNull: Bool
  ) -> Result<Triple, Failure> {
    let arms = [base, head] + (withNull ? [base.named("\(base.name) again")] : [])
    let square = LatinSquare(size: arms.count, seed: seed).order(block: block)
    do throws(Failure) {
      let repeats = try repeats(cell)
      let stolen = world.watchSteal()
      var lines: [[ResultLine]] = arms.map { _ in [] }
      let mode = MeasureRequest.Mode.time(repeats: repeats, values: effort.values, leadIn: effort.leadIn)
      for process in 0..<effort.processes {
        for index in reversed ? square.reversed() : square {
          lines[index] += try run(arms[index], cell, mode, place: block + process, isBase: index != 1)
        }
      }
      let middle = lines.map(Self.medians)
      return .success(
        Triple(
          base: middle[0], head: middle[1], again: withNull ? middle[2] : middle[0],
          isExcluded: stolen() > SystemLoad.largestStolenShare))
    } catch {
      return .failure(error)
    }
  }

  /// The base decides the number of repeats, once, so that both sides do the same work in both stages.
  private mutating func repeats(_ cell: CellKey) throws(Failure) -> Int {
    if let known = repeats[cell] { return known }
    let lines = try run(base, cell, .calibrate(target: effort.target, limit: .max), isBase: true)
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
    let outcome = world.launch(arm, request, environment.merging(padding) { $1 }, timeout)
    if let words = outcome.leftBehind(by: cell), leavers.insert(arm.name).inserted {
      world.say("\(arm.name): \(words)")
    }
    let lines = outcome.lines.compactMap(ResultLine.init)
    guard let failure = outcome.failure(lines) else {
      let own = max(effort.timeout, effort.timeoutFactor * Double(outcome.nanoseconds) / 1e9)
      timeouts[cell] = timeouts[cell] ?? own
      return lines
    }
    throw Failure(isBase: isBase, isAbsent: lines.contains(.absent), reason: "\(arm.name): \(failure)")
  }

  /// The median of each number over all values, of one process or of several.
  package static func medians(_ lines: [ResultLine]) -> [Metric: Double] {
    var values: [Metric: [Double]] = [:]
    for case .reading(_, let reading) in lines { values[reading.metric, default: []].append(reading.value) }
    return values.mapValues(Statistics.median)
  }
}
