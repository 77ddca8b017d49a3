import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Runs two commands in turns: blocks of base, head, and base again. `GateRule` decides what the numbers mean.
package struct CommandRunner {
  /// A run that gave no number.
  package struct Failure: Error, Hashable, Sendable {
    package let isBase: Bool
    package let reason: String
  }

  /// One run, for the file of all runs.
  package struct Run: Sendable {
    package let block: Int
    package let arm: String
    package let numbers: [NamedNumber: Double]
    package let isExcluded: Bool
  }

  /// The numbers of the three arms of a block: each the median of the arm's runs.
  package struct Block: Sendable {
    package let arms: [[NamedNumber: Double]]
    package let isExcluded: Bool
  }

  /// The arms of a block by name.
  package static let arms = ["base", "head", "base again"]
  /// A block of short commands has n runs of each, so that the block takes this number of seconds: the kernel counts
  /// what others take in hundredths of a second.
  static let leastSeconds = 0.5
  static let mostRuns = 100

  private let sides: [CommandSide]
  private let conditions: CommandConditions
  private let effects: CommandEffects
  /// Whether both are started by a shell.
  package let throughShell: Bool
  /// What the base printed first.
  private var output: [UInt8]?
  /// The sides of which something was left behind, each said once.
  private var leavers: Set<String> = []
  /// The CPU time of all runs so far, in seconds.
  private var cpuSeconds = 0.0
  package private(set) var runs: [Run] = []
  package private(set) var runsPerBlock = 1

  package init(
    base: CommandSide, head: CommandSide, _ conditions: CommandConditions, effects: CommandEffects
  ) {
    (sides, self.conditions, self.effects) = ([base, head], conditions, effects)
    throughShell = sides.contains { $0.command.words == nil }
  }

  /// Runs blocks until `isDone` is true for the blocks so far, or there is no time for another one.
  /// - Parameter isDone: gets the blocks, and the number of blocks that there is time for.
  package mutating func blocks(until isDone: ([Block], _ most: Int) -> Bool) throws(Failure) -> [Block] {
    let began = effects.now()
    func seconds() -> Double { Double(effects.now() - began) / 1e9 }
    for index in 0..<conditions.warmUps {
      for side in sides.indices where !effects.isInterrupted() {
        effects.showProgress(0, conditions.budget, "warm-up \(index + 1): \(sides[side].name)")
        _ = try run(side)
      }
    }
    // The first block says how long a run takes. Without a warm-up its runs are what they are.
    var blocks: [Block] = []
    // When the rule is asked next: each answer costs more than the last one.
    var next = GateRule.fewestBlocks
    let warm = seconds()
    while !effects.isInterrupted() {
      let each = blocks.isEmpty ? 0 : (seconds() - warm) / Double(blocks.count)
      guard blocks.isEmpty || seconds() + each <= conditions.budget else { break }
      effects.showProgress(
        seconds(), conditions.budget, "block \(blocks.count + 1), at most \(Progress.duration(conditions.budget))")
      let start = effects.now()
      guard let block = try block(blocks.count) else { continue }
      blocks.append(block)
      if blocks.count == 1 {
        let took = Double(effects.now() - start) / 1e9
        runsPerBlock = min(Self.mostRuns, max(1, Int((Self.leastSeconds / max(took, 1e-4)).rounded(.up))))
      }
      if blocks.count >= next {
        let most = Int((conditions.budget - warm) / max(1e-3, (seconds() - warm) / Double(blocks.count)))
        if isDone(blocks, max(blocks.count, most)) { break }
        next = blocks.count + max(1, blocks.count / 10)
      }
    }
    return blocks
  }

  /// How often a block is made while this process stands still.
  private static let mostAttempts = 3

  /// Nil when the user interrupted the block.
  private mutating func block(_ index: Int) throws(Failure) -> Block? {
    for attempt in 1... {
      let watch = effects.watch()
      let before = cpuSeconds
      var values: [[[NamedNumber: Double]]] = [[], [], []]
      var stoodStill = false
      let order = LatinSquare(size: Self.arms.count, seed: conditions.seed).order(block: index)
      for _ in 0..<runsPerBlock {
        for arm in order {
          guard !effects.isInterrupted() else { return nil }
          let (numbers, stood) = try run(arm % 2)
          values[arm].append(numbers)
          stoodStill = stoodStill || stood
        }
      }
      if stoodStill, attempt < Self.mostAttempts {
        effects.say("the machine stood still in block \(index + 1), which is made again")
        continue
      }
      let isExcluded = stoodStill || watch(cpuSeconds - before)
      for (arm, all) in values.enumerated() {
        runs += all.map { Run(block: index + 1, arm: Self.arms[arm], numbers: $0, isExcluded: isExcluded) }
      }
      return Block(arms: values.map(Self.medians), isExcluded: isExcluded)
    }
    return nil
  }

  /// The medians of the numbers that every run of an arm has.
  private static func medians(_ runs: [[NamedNumber: Double]]) -> [NamedNumber: Double] {
    (runs.first ?? [:]).reduce(into: [:]) { medians, number in
      let values = runs.compactMap { $0[number.key] }
      if values.count == runs.count { medians[number.key] = Statistics.median(values) }
    }
  }

  private mutating func run(_ index: Int) throws(Failure) -> (numbers: [NamedNumber: Double], stoodStill: Bool) {
    let side = sides[index]
    func failure(_ reason: String) -> Failure { Failure(isBase: index == 0, reason: "\(side.name): \(reason)") }
    if let prepare = conditions.prepare {
      let outcome = start(prepare, side, throughShell: prepare.words == nil, input: nil, keepsOutput: false).outcome
      if outcome.ending == .interrupted { return ([:], false) }
      guard outcome.ending == .exited(0) else { throw failure(Self.words(prepare, outcome)) }
    }
    let (outcome, output) = start(
      side.command, side, throughShell: throughShell, input: conditions.input, keepsOutput: conditions.keepsOutput)
    cpuSeconds += outcome.usage.cpuSeconds
    if outcome.ending == .interrupted { return ([:], false) }
    if outcome.isOutputHeld, leavers.insert(side.name).inserted {
      effects.say(
        "\(side.name): the command has ended, and something that it started went on; what was left of its group was killed, "
          + "and whatever goes on may disturb the numbers")
    }
    switch outcome.ending {
    case .exited(0): break
    case .exited where conditions.mayFail: break
    default: throw failure(Self.words(side.command, outcome))
    }
    if conditions.comparesOutput {
      if let first = self.output {
        if let place = Self.difference(first, output) {
          throw failure(
            "printed \(Self.quoted(output, place)) where the first run printed \(Self.quoted(first, place))")
        }
      } else {
        self.output = output
      }
    }
    guard conditions.reader != .times else { return (NamedNumber.numbers(of: outcome), outcome.stoodStill > 0) }
    do throws(NumberReader.Problem) {
      let numbers: [NamedNumber: Double]
      if let place = conditions.numbersAt {
        numbers = try effects.read(
          place.hasPrefix("/") ? place : side.folder.map { "\($0)/\(place)" } ?? place, conditions.reader)
      } else {
        numbers = try conditions.reader.numbers(in: output)
      }
      return (numbers, outcome.stoodStill > 0)
    } catch { throw failure("'\(side.command.text)' \(error.words)") }
  }

  private func start(
    _ command: CommandText, _ side: CommandSide, throughShell: Bool, input: String?, keepsOutput: Bool
  ) -> (outcome: ProcessOutcome, output: [UInt8]) {
    var launch = CommandLaunch(command.arguments(throughShell: throughShell))
    launch.folder = side.folder
    launch.input = input
    launch.keepsOutput = keepsOutput
    return effects.run(launch, conditions.timeout, NumberReader.limit)
  }

  /// Why a command failed.
  package static func words(_ command: CommandText, _ outcome: ProcessOutcome) -> String {
    if case .notStarted(let code) = outcome.ending, code == 2 {
      return "there is no program '\(command.words?.first ?? "sh")'"
    }
    let last = outcome.lastWords.map { ", its last words: \($0)" } ?? ""
    return "'\(command.text)' \(outcome.ending.description)\(last)"
  }

  /// The first place in which two outputs differ; nil when they are the same.
  private static func difference(_ one: [UInt8], _ other: [UInt8]) -> Int? {
    guard one != other else { return nil }
    return zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(one.count, other.count)
  }

  /// The line of an output in which a place is, cut.
  private static func quoted(_ output: [UInt8], _ place: Int) -> String {
    let newline = UInt8(ascii: "\n")
    let begin = output[..<min(place, output.count)].lastIndex(of: newline).map { $0 + 1 } ?? 0
    guard begin < output.count else { return "nothing more" }
    return "'\(String(decoding: output[begin...].prefix { $0 != newline }.prefix(60), as: UTF8.self))'"
  }
}
