/// When a worker looks where it would otherwise look last, or never: a count of the jobs that it has taken.
///
/// Two turns come round. The *lowest level's* turn comes once in `fairnessInterval` jobs. The *others'* turn comes once
/// in `othersInterval` jobs, whatever the fairness: work that feeds itself would otherwise keep the jobs of a worker
/// waiting whose thread is stuck in one job.
@usableFromInline package struct Turns: Sendable {
  /// 61 is a prime, so that the intervals keep no step with periodic work.
  @inlinable package static var usualOthersInterval: Int { 61 }
  @inlinable package static var usualFairnessInterval: Int { 61 }

  private let fairnessInterval: Int
  private let othersInterval: Int
  private var untilLowest: Int
  private var untilOthers: Int
  /// How many lowest level's turns have come.
  private var lowestTurns = 0
  /// The number of jobs from the last turn to the next one.
  package private(set) var step: Int

  /// - Parameters:
  ///   - fairnessInterval: 0 for no turn of the lowest level.
  ///   - outsideInterval: after how many jobs that it added itself the worker looks outside. A worker that is to look
  ///     outside less often has the others' turn less often.
  package init(fairnessInterval: Int, outsideInterval: Int) {
    self.fairnessInterval = fairnessInterval > 0 ? fairnessInterval : .max
    othersInterval = max(Self.usualOthersInterval, outsideInterval)
    untilLowest = self.fairnessInterval
    // Half an interval apart from the lowest level's turns, which have the same interval by default.
    untilOthers = othersInterval / 2
    step = min(untilLowest, untilOthers)
  }

  /// Called after `step` jobs: which turns have come. `step` says when to call again.
  package mutating func next() -> (isLowests: Bool, isOthers: Bool) {
    untilLowest -= step
    untilOthers -= step
    let due = (isLowests: untilLowest == 0, isOthers: untilOthers == 0)
    if due.isLowests {
      untilLowest = fairnessInterval
      lowestTurns &+= 1
    }
    if due.isOthers { untilOthers = othersInterval }
    step = min(untilLowest, untilOthers)
    return due
  }

  /// Whether, at the lowest level's turn, jobs that the worker added itself go before those from outside. They do every
  /// second time, so that neither waits for ever while the other is fed.
  package var ownGoFirst: Bool { lowestTurns.isMultiple(of: 2) }
}

extension Turns {
  /// The most jobs of a level that one look brings from a stuck worker to where all look: well below `othersInterval`,
  /// so that older jobs from outside go on between them.
  @inlinable package static var broughtAtOnce: Int { 16 }
  /// How many workers without jobs one look passes.
  @inlinable package static var passedAtOnce: Int { 16 }
  /// A worker with more jobs of its own than this takes single jobs from outside. A second job, taken
  /// along, would wait behind the worker's own jobs, and later ones would go first.
  @inlinable package static var longList: Int { 64 }
}
