@_spi(Jobs) import OperationJobs
import Synchronization

/// Stands in a list for an operation whose own link is in use, because the operation's priority changed while it
/// stood there.
///
/// Only the newest entry of an operation counts; the generation tells which entry is the newest. An entry holds its
/// operation.
package final class MovedEntry: JobObject {
  let operation: Operation
  private let generation: UInt32

  init(_ operation: Operation, generation: UInt32) {
    self.operation = operation
    self.generation = generation
    super.init()
    setLevel(operation.level)
  }

  var isCurrent: Bool { operation.lock.withLock { operation.extras.moveGeneration == generation } }

  override package var stepLabel: String { operation.stepLabel }

  override package var isVoid: Bool { operation.isVoid || !isCurrent }

  override package func runJob() -> JobOutcome {
    guard isCurrent else { return JobOutcome(isReleased: true) }
    let outcome = operation.runEntry(byLink: false)
    if outcome.isReleased { Unmanaged.passUnretained(operation).release() }
    // The caller gives back this entry's own reference.
    return JobOutcome(next: outcome.next, isReleased: true)
  }

  func claimAdmitted() -> AdmittedClaim {
    guard isCurrent, case .start(let claimed) = operation.claimAdmitted(byLink: false, entry: word) else {
      return .void(discard: true)
    }
    return .start(claimed)
  }

  private var word: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }
}

/// An entry in a controller's lists, as a word: an operation by its own link, or the operation's `MovedEntry`.
enum ListEntry {
  private static func moved(_ word: UInt) -> Unmanaged<MovedEntry>? {
    let entry = JobObject.object(word)
    return entry._withUnsafeGuaranteedRef { type(of: $0) == MovedEntry.self } ? .fromOpaque(entry.toOpaque()) : nil
  }

  /// Claims the operation. The controller lets the operation start now.
  static func claimAdmitted(_ word: UInt) -> AdmittedClaim {
    if let entry = moved(word) { return entry._withUnsafeGuaranteedRef { $0.claimAdmitted() } }
    return Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.claimAdmitted(byLink: true, entry: word) }
  }

  /// The entry goes to the backend instead: the operation's start and finish are not the controller's any more.
  static func leaveController(_ word: UInt) {
    let operation =
      moved(word).map { .passUnretained($0._withUnsafeGuaranteedRef { $0.operation }) } ?? Operation.unmanaged(word)
    operation._withUnsafeGuaranteedRef { $0.leaveController() }
  }

  /// Gives back what a void entry held, when the entry was taken out of a controller's list. Called without locks.
  static func discard(_ word: UInt) {
    if moved(word) == nil { Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.leaveQueue() } }
    JobObject.object(word).release()
  }
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
