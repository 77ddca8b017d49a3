import Testing

@testable import OperationCore
@testable import OperationJobs

@Suite struct LevelWordTests {
  private typealias Priority = Operation.QueuePriority

  /// Row 36 of the contract.
  private static let levels: [(quality: QualityOfService, level: Int)] = [
    (.userInteractive, 4), (.userInitiated, 3), (.default, 2), (.utility, 1), (.background, 0),
  ]

  private func level(_ quality: QualityOfService) -> Int {
    Self.levels.first { $0.quality == quality }.map(\.level) ?? -1
  }

  @Test func `priorities are Foundation's numbers and five levels`() {
    #expect(Priority.allCases.map(\.rawValue) == [-8, -4, 0, 4, 8])
    #expect(Priority.allCases.map(\.level) == [0, 1, 2, 3, 4])
    for priority in Priority.allCases { #expect(Priority(level: priority.level) == priority) }
    #expect(Priority(level: 7) == .normal)
  }

  @Test func `qualities of service are Foundation's numbers and survive packing`() {
    #expect(QualityOfService.allCases.map(\.rawValue) == [0x21, 0x19, 0x11, 0x09, -1])
    for quality in QualityOfService.allCases { #expect(QualityOfService(index: quality.index) == quality) }
    #expect(Set(QualityOfService.allCases.map(\.index)).count == QualityOfService.allCases.count)
  }

  @Test func `each quality of service stands for its priority`() {
    for (quality, level) in Self.levels { #expect(quality.priority.level == level) }
  }

  @Test func `a new operation is normal, with nothing set`() {
    let word = LevelWord.initial
    #expect(word.level == 2)
    #expect(!word.isExplicit)
    #expect(word.explicitPriority == .normal)
    #expect(word.qualityOfService == .default)
    #expect(word.queueQualityOfService == .default)
  }

  @Test func `a priority that was set decides, whatever the qualities of service and the order of setting`() {
    for priority in Priority.allCases {
      for quality in QualityOfService.allCases {
        for queue in QualityOfService.allCases {
          let enqueued = LevelWord.initial.with(queueQualityOfService: queue)
          let prioritized = LevelWord.initial.with(priority: priority)
          for word in [
            enqueued.with(qualityOfService: quality).with(priority: priority),
            prioritized.with(qualityOfService: quality).with(queueQualityOfService: queue),
            prioritized.with(queueQualityOfService: queue).with(qualityOfService: quality),
          ] {
            #expect(word.isExplicit)
            #expect(word.level == priority.level)
            #expect(word.explicitPriority == priority)
            #expect(word.qualityOfService == quality)
            #expect(word.queueQualityOfService == queue)
          }
        }
      }
    }
  }

  @Test func `without a priority the operation's quality of service decides, else its queue's`() {
    for quality in QualityOfService.allCases {
      for queue in QualityOfService.allCases {
        let expected = quality == .default ? level(queue) : level(quality)
        for word in [
          LevelWord.initial.with(qualityOfService: quality).with(queueQualityOfService: queue),
          LevelWord.initial.with(queueQualityOfService: queue).with(qualityOfService: quality),
        ] {
          #expect(word.level == expected)
          #expect(word.explicitPriority == .normal)
          #expect(!word.isExplicit)
        }
      }
    }
  }

  @Test func `setting again replaces what was set`() {
    let raised = LevelWord.initial.with(priority: .veryHigh).with(priority: .veryLow)
    #expect(raised.level == 0)
    #expect(raised.explicitPriority == .veryLow)
    let calmed = LevelWord.initial.with(qualityOfService: .userInteractive).with(queueQualityOfService: .utility)
      .with(qualityOfService: .default)
    #expect(calmed.level == 1)
    #expect(calmed.qualityOfService == .default)
  }

  @Test func `a floor that was raised alone says so until somebody goes on`() {
    let alone = LevelWord.initial.with(floor: 3, goesOn: false)
    #expect(alone.floorIsAlone && alone.floor == 3 && alone.level == 3)
    #expect(alone.with(floor: 3, goesOn: false) == alone && alone.with(floor: 2, goesOn: true) == alone)
    let walked = alone.with(floor: 3, goesOn: true)
    #expect(!walked.floorIsAlone && walked.floor == 3)
    #expect(walked.with(floor: 3, goesOn: false) == walked)
    #expect(!alone.with(floor: 4, goesOn: true).floorIsAlone && walked.with(floor: 4, goesOn: false).floorIsAlone)
  }

  @Test func `the floor holds whatever is set, rises only, and changes nothing that was set`() {
    for floor in 0..<5 {
      for priority in Priority.allCases {
        let before = LevelWord.initial.with(priority: priority).with(floor: floor, goesOn: true)
        let after = LevelWord.initial.with(floor: floor, goesOn: true).with(priority: priority)
        #expect(before == after && before.level == max(floor, priority.level) && before.floor == floor)
        #expect(before.explicitPriority == priority)
        #expect(before.with(floor: 0, goesOn: true) == before)
      }
      for quality in QualityOfService.allCases {
        let word = LevelWord.initial.with(floor: floor, goesOn: true).with(queueQualityOfService: quality)
        #expect(word.level == max(floor, level(quality)) && word.queueQualityOfService == quality && !word.isExplicit)
      }
    }
  }

  @Test func `the level alone changes nothing else`() {
    let word = LevelWord.initial.with(priority: .high).with(qualityOfService: .utility)
    for level in 0..<5 {
      let changed = word.with(level: level)
      #expect(changed.level == level)
      #expect(changed.explicitPriority == .high)
      #expect(changed.qualityOfService == .utility)
    }
  }
}
