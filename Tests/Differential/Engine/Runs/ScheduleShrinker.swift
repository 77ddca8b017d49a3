import TestSupport

/// Makes a failing program and its schedule small. The program comes first: a smaller program has fewer choices. Then
/// the choices: as few as possible, and as many plain ones among them as possible.
public struct ScheduleShrinker {
  /// Whether a program still fails in the same way with these choices.
  private let fails: (Schedule) -> Bool
  /// The choices of a seed for a program that fails with them.
  private let search: (Program) -> [Int]?
  private let seconds: Double

  /// - Parameters:
  ///   - fails: runs a schedule.
  ///   - search: tries some seeds; returns choices with which the program fails.
  public init(seconds: Double = 60, fails: @escaping (Schedule) -> Bool, search: @escaping (Program) -> [Int]?) {
    self.seconds = seconds
    self.fails = fails
    self.search = search
  }

  /// - Parameter category: of the failure that is to stay.
  public init(_ setting: Schedule.Setting, category: String, seeds: Int = 20) {
    self.init(
      fails: { $0.run(setting).failure?.category == category },
      search: { program in
        for seed in 0..<UInt64(seeds) {
          let outcome = Schedule.run(program, seed: seed, setting)
          if outcome.failure?.category == category { return outcome.choices }
        }
        return nil
      })
  }

  public func shrink(_ schedule: Schedule) -> Schedule {
    // Another program asks for other choices: where the old ones show nothing, other seeds may.
    var known = schedule
    let program = Shrinker(seconds: seconds) { candidate in
      for choices in [known.choices, []] where fails(Schedule(candidate, choices: choices)) {
        known = Schedule(candidate, choices: choices)
        return true
      }
      guard let choices = search(candidate) else { return false }
      known = Schedule(candidate, choices: choices)
      return true
    }.shrink(schedule.program)
    // The last steps of the shrinker only rename.
    if known.program != program, fails(Schedule(program, choices: known.choices)) { known.program = program }
    return shrinkChoices(known)
  }

  private func shrinkChoices(_ schedule: Schedule) -> Schedule {
    var best = schedule
    func accept(_ choices: [Int]) -> Bool {
      guard choices != best.choices, fails(Schedule(best.program, choices: choices)) else { return false }
      best.choices = choices
      return true
    }
    _ = accept([])
    // Behind the end every choice is plain.
    var size = best.choices.count / 2
    while size >= 1 {
      while size <= best.choices.count, accept(Array(best.choices.dropLast(size))) {}
      size /= 2
    }
    var changed = true
    while changed {
      changed = false
      for place in best.choices.indices where best.choices[place] != 0 {
        var choices = best.choices
        choices[place] = 0
        if accept(choices) {
          changed = true
          continue
        }
        while best.choices[place] > 1 {
          choices = best.choices
          choices[place] -= 1
          guard accept(choices) else { break }
          changed = true
        }
      }
      while best.choices.last == 0 { best.choices.removeLast() }
    }
    return best
  }
}
