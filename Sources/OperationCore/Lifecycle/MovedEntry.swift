import Synchronization

/// Stands in a list for an operation whose own link is in use, because the operation's priority changed while it
/// stood there.
///
/// Only the newest entry of an operation counts; the generation tells which entry is the newest. An entry holds its
/// operation.
final class MovedEntry: JobObject {
  let operation: Operation
  private let generation: UInt32

  init(_ operation: Operation, generation: UInt32) {
    self.operation = operation
    self.generation = generation
    super.init(levelWord: UInt32(operation.level))
  }

  var isCurrent: Bool { operation.lock.withLock { operation.extras.moveGeneration == generation } }

  override var stepLabel: String { operation.stepLabel }

  override var isVoid: Bool { operation.isVoid || !isCurrent }

  override func runJob() -> JobOutcome {
    guard isCurrent else { return JobOutcome(isReleased: true) }
    let outcome = operation.runEntry(byLink: false)
    if outcome.isReleased { Unmanaged.passUnretained(operation).release() }
    // The caller gives back this entry's own reference.
    return JobOutcome(next: outcome.next, isReleased: true)
  }

  override func claimAdmitted() -> AdmittedClaim {
    guard isCurrent, case .start(let claimed) = operation.claimAdmitted(byLink: false, entry: word) else {
      return .void(discard: true)
    }
    return .start(claimed)
  }

  override func leaveController() { operation.leaveController() }

  override func discard() { Unmanaged.passUnretained(self).release() }

  private var word: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
}

extension Operation {
  /// Makes a new entry; all earlier entries of the operation are void from then on. Returns the word of a job with a
  /// reference of its own.
  final func makeMovedEntry() -> UInt {
    let generation = lock.withLock {
      extras.moveGeneration &+= 1
      return extras.moveGeneration
    }
    return UInt(bitPattern: Unmanaged<JobObject>.passRetained(MovedEntry(self, generation: generation)).toOpaque())
  }
}
