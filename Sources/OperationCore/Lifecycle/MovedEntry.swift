import Synchronization

/// Stands in a list for an operation whose own link is in use, because its priority changed while it stood there.
///
/// Only the newest one of an operation counts, by its generation. Holds the operation.
final class MovedEntry: JobObject {
  let operation: Operation
  private let generation: UInt32

  init(_ operation: Operation, generation: UInt32) {
    self.operation = operation
    self.generation = generation
    super.init(levelWord: UInt32(operation.level))
  }

  var isCurrent: Bool { operation.lock.withLock { operation.extras.moveGeneration == generation } }

  override var isVoid: Bool { operation.isVoid || !isCurrent }

  override func runJob() -> JobOutcome {
    guard isCurrent else { return JobOutcome(isReleased: true) }
    let outcome = operation.runEntry(byLink: false)
    if outcome.isReleased { Unmanaged.passUnretained(operation).release() }
    // This entry's own reference is what the caller gives back.
    return JobOutcome(next: outcome.next, isReleased: true)
  }

  override func claimAdmitted() -> AdmittedClaim {
    guard isCurrent, case .start(let claimed) = operation.claimAdmitted(byLink: false, entry: word) else {
      return .void(discard: true)
    }
    return .start(claimed)
  }

  override func discard() { Unmanaged.passUnretained(self).release() }

  private var word: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
}

extension Operation {
  /// A new entry that makes all earlier ones void; the word of a job with a reference of its own.
  final func makeMovedEntry() -> UInt {
    let generation = lock.withLock {
      extras.moveGeneration &+= 1
      return extras.moveGeneration
    }
    return UInt(bitPattern: Unmanaged<JobObject>.passRetained(MovedEntry(self, generation: generation)).toOpaque())
  }
}
