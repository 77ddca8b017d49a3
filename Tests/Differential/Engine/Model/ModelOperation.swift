/// What the model knows of one operation. A `Min` stamp is the earliest moment at which something can have taken
/// effect, a `Sure` stamp the moment from which it certainly has; stamps are positions in the journal.
struct ModelOperation {
  let spec: Program.OperationSpec
  var kind: OperationKind { spec.kind }

  // Membership.
  var queue: Int?
  var addBegan = Int.max
  var addEnded: Int?
  /// Position in its batch.
  var position = 0
  var isBarrier = false
  var byHand = false

  /// In the order of adding; the value says since when it certainly counts, nil while it need not.
  var dependencies: [(operation: Int, counts: Bool)] = []
  /// Dependencies were changed while it may have been running: what the list says is not compared.
  var dependenciesUnsure = false

  var hadDependencies = false
  /// Its class may override `isReady`, and somebody other than the adding thread brings it to be asked: perhaps on
  /// another thread, and until then others may come first.
  var isAskedLater: Bool {
    switch kind {
    case .blocks, .closure: false
    default: hadDependencies
    }
  }
  /// Removals of dependencies that are under way.
  var removals = 0
  /// Additions that are under way: even one that has finished may hold it back until the call has returned.
  var additions = 0

  // Cancelling.
  /// Calls of `cancel()` that are under way: until they have returned, nothing shows whether they took effect.
  var cancels = 0
  var cancelBegan: Int?
  var cancelIsSure = false
  /// The cancellation met the finish: either may have been first.
  var cancelIsUnsure = false
  /// It was cancelled before its start: its body must not begin.
  var mustSkip = false

  // Life.
  var startedBlocks: Set<Int> = []
  var endedBlocks: Set<Int> = []
  var began: Int?
  /// The moment before the finish: the end of the last block, or the call of `finish()`.
  var ended: Int?
  var bodyReturned = false
  /// Finished without a body, as cancelled.
  var wasSkipped = false
  /// From here on everybody has been told of the finish.
  var finishSure: Int?
  /// A worker may have claimed it before something was changed that would hold it back now.
  var mayBeClaimed = false
  /// It may have been on its way out, as cancelled, before its queue was suspended: that cannot be seen.
  var maySkip = false
  var blockedOn: Blocker?
  /// Bodies that its thread runs while it waits: it goes on when they have ended.
  var lent = 0
  var helperAsked = false
  var finishing = false

  /// Its `isReady` has observers. They are called when everybody else has been handed over, so the operation comes
  /// later.
  var isReadinessObserved = false

  // Its own readiness condition.
  var conditionBegan = false
  var conditionSure = false

  // Place in the order.
  var level = 2
  var levelSure: Int? = 0
  var explicitLevel: Int?
  var quality = 2
  var queueQuality = 2
  /// It was being added while the quality of its queue changed.
  var queueQualityIsUnsure = false
  var levelIsUnsure: Bool { queueQualityIsUnsure && explicitLevel == nil && quality == 2 }
  var readyMin: Int?
  /// The earliest moment of its place among those of its level: one that is held back again may keep its place.
  var placeMin: Int?
  var readySure: Int?
  /// When it is ready for whoever is given a place in its queue.
  var readyAtClaim: Int?
  /// What became ready at the same moment has the same number.
  var group: Group?
  /// It was handed to the backend before its queue decided about the order.
  var placementUnknown = false

  // Completion block.
  var completionIsOwed = false
  var completionIsSet = false
  var completions = 0

  enum Blocker: Equatable {
    case operation(Int)
    case gate(Int)
  }

  enum Group: Equatable {
    case batch(Int)
    case release(Int)
  }

  init(_ spec: Program.OperationSpec) { self.spec = spec }

  /// Since when it certainly is ready is not known, or not any more.
  mutating func forgetReadiness() {
    readySure = nil
    readyAtClaim = nil
    group = nil
  }

  var isDone: Bool { ended != nil || wasSkipped }
  var isPending: Bool { queue != nil && began == nil && !isDone }
  var isRunning: Bool { began != nil && ended == nil }
}

/// What the model knows of one queue.
struct ModelQueue {
  let backend: Int
  /// `Int.max` for none. While the limit changes, the higher one of both.
  var limit: Int
  var isSuspended: Bool
  var isReleased = false
  var isCancellingAll = false
  var qualityLevel = 2
  var isChangingQuality = false
  /// The last moment before which no place was free, or nothing could start for another reason.
  var openedAt = 0
  /// When a suspension or a lower limit last held back what had not started.
  var heldBackAt = 0
  /// A call that lets more or fewer start is under way.
  var isChanging = false
  /// The end of the last such call: all that it lets start has been handed over.
  var changedSure = 0

  init(_ spec: Program.QueueSpec) {
    backend = spec.backend
    limit = spec.limit < 0 ? .max : spec.limit
    isSuspended = spec.isSuspended
  }
}
