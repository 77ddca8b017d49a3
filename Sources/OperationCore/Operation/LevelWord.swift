/// Everything about an operation's urgency in one word: the level in force (bits 0-2), the priority that the user set
/// (bits 3-5; bit 6 says whether a priority was set), the operation's quality of service (bits 8-10) and its queue's
/// (bits 12-14), and the floor, the highest level of a task that waits for the operation (bits 16-18; bit 19 says that
/// what the operation waits for was not raised with it).
struct LevelWord: Equatable, Sendable {
  var bits: UInt32

  static let initial = LevelWord(
    bits: 2 | 2 << 3 | QualityOfService.default.index << 8 | QualityOfService.default.index << 12)

  var level: Int { Int(bits & 7) }
  var isExplicit: Bool { bits & 1 << 6 != 0 }
  var explicitPriority: Operation.QueuePriority { Operation.QueuePriority(level: Int(bits >> 3 & 7)) }
  var qualityOfService: QualityOfService { QualityOfService(index: bits >> 8 & 7) }
  var queueQualityOfService: QualityOfService { QualityOfService(index: bits >> 12 & 7) }
  var floor: Int { Int(bits >> 16 & 7) }
  var floorIsAlone: Bool { bits & 1 << 19 != 0 }

  func with(level: Int) -> LevelWord { LevelWord(bits: bits & ~7 | UInt32(level)) }

  func with(priority: Operation.QueuePriority) -> LevelWord {
    LevelWord(bits: bits & ~(7 << 3) | UInt32(priority.level) << 3 | 1 << 6).effective
  }

  func with(qualityOfService: QualityOfService) -> LevelWord {
    LevelWord(bits: bits & ~(7 << 8) | qualityOfService.index << 8).effective
  }

  func with(queueQualityOfService: QualityOfService) -> LevelWord {
    LevelWord(bits: bits & ~(7 << 12) | queueQualityOfService.index << 12).effective
  }

  /// Raises the floor. A lower one changes nothing.
  /// - Parameter goesOn: whether what the operation waits for is raised, too.
  func with(floor: Int, goesOn: Bool) -> LevelWord {
    if floor < self.floor { return self }
    if floor == self.floor { return goesOn ? LevelWord(bits: bits & ~(1 << 19)) : self }
    return LevelWord(bits: bits & ~(15 << 16) | UInt32(floor) << 16 | (goesOn ? 0 : 1 << 19)).effective
  }

  /// The level in force: the priority if one was set, else the operation's quality of service, else its queue's, but at
  /// least the floor.
  private var effective: LevelWord { with(level: max(chosenLevel, floor)) }

  private var chosenLevel: Int {
    if isExplicit { return explicitPriority.level }
    return (qualityOfService == .default ? queueQualityOfService : qualityOfService).priority.level
  }
}
