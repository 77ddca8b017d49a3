@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

/// An operation that the controller let start: claimed, and not launched yet.
struct ClaimedEntry {
  /// Kept alive by the reference that the entry stands for.
  let operation: Unmanaged<Operation>
  /// The word that stood in the list: the operation itself, or the operation's `MovedEntry`.
  let entry: UInt
  let before: StateWord
  let after: StateWord

  var isByLink: Bool { entry == UInt(bitPattern: operation.toOpaque()) }
}

/// What became of an entry that the controller wanted to start.
enum AdmittedClaim {
  case start(ClaimedEntry)
  /// There is nothing to start. `discard`: call `ListEntry.discard` when no lock is held.
  case void(discard: Bool)
}

extension Operation {
  final func claimAdmitted(byLink: Bool, entry: UInt) -> AdmittedClaim {
    let (before, after, claim) = claim(byLink: byLink, admitted: true)
    switch claim {
    case .start, .skip:
      return .start(ClaimedEntry(operation: .passUnretained(self), entry: entry, before: before, after: after))
    case .drop(let leave): return .void(discard: leave)
    case .divert: return .void(discard: false)
    }
  }
}

/// The right to start one operation of a queue that has a limit or a barrier, on its way through the backend. The
/// operation is chosen when a worker has taken the ticket.
///
/// Sendable: `queueWord` is written while the ticket belongs to one thread.
package final class QueueTicket: JobObject, @unchecked Sendable {
  /// The queue, retained while the ticket is on its way.
  private let queueWord = Atomic<UInt>(0)

  private override init() {}

  /// - Parameter spare: a ticket to use again, or 0.
  /// - Returns: the ticket as a job's word.
  static func prepare(_ spare: UInt, for queue: OperationQueue, level: Int) -> UInt {
    let word = spare != 0 ? spare : UInt(bitPattern: Unmanaged<JobObject>.passRetained(QueueTicket()).toOpaque())
    JobObject.object(word)._withUnsafeGuaranteedRef {
      $0.setLevel(level)
      let ticket = unsafeDowncast($0, to: QueueTicket.self)
      let pointer = Unmanaged.passUnretained(queue).toOpaque()
      OwedReferences.take(1, of: pointer)
      ticket.queueWord.store(UInt(bitPattern: pointer), ordering: .relaxed)
    }
    return word
  }

  /// A queue without operations starts nothing. An operation that is added later needs the backend itself.
  override package var isVoid: Bool {
    OperationQueue.unmanaged(queueWord.load(ordering: .relaxed))._withUnsafeGuaranteedRef {
      $0.registry.pendingCount == 0
    }
  }

  override package var stepLabel: String {
    OperationQueue.unmanaged(queueWord.load(ordering: .relaxed))._withUnsafeGuaranteedRef { queue in
      queue.lock.withLock { queue.extras.name }.map { "the next of \($0)" } ?? "the next of a queue"
    }
  }

  override package func runJob() -> JobOutcome {
    let queue = queueWord.load(ordering: .relaxed)
    var voided: [UInt] = []
    let word = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
    // From here on the ticket may be on its way again: this thread does not read its fields any more.
    let next = OperationQueue.unmanaged(queue)._withUnsafeGuaranteedRef {
      $0.controller.takeNext(returning: word, of: $0, voided: &voided)
    }
    for entry in voided { ListEntry.discard(entry) }
    var successor: UInt = 0
    if let next {
      let outcome = next.operation._withUnsafeGuaranteedRef {
        $0.launch(ownsLink: next.isByLink, claimed: next.after, before: next.before)
      }
      outcome.giveBack(UInt(bitPattern: next.operation.toOpaque()))
      successor = outcome.next
      if !next.isByLink { ListEntry.discard(next.entry) }
    }
    OwedReferences.add(queue)
    return JobOutcome(next: successor)
  }
}
