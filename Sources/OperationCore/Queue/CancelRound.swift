import CPlatform
import Primitives

/// One call of `cancelAllOperations`, on the calling thread.
///
/// An operation whose class does not override `cancel()` is cancelled by the library, at the instant at which
/// `Registry.cancelledBefore` is raised. An operation whose class does has to be asked: only its own `cancel()` says
/// whether the operation is cancelled, and may want to do something before the flag is set. Until that method has
/// called `super`, or has returned, the operation is *held*: it neither runs nor is skipped. A hold is one count more
/// in the operation's word, as a dependency that is added late has: `README.md` here, *Cancelling everything*.
///
/// A `cancel()` may wait for its own operation, or for another one that is held. So a wait gives the hold of the
/// operation back whose `cancel()` waits, and calls `cancel()` of the others first.
final class CancelRound {
  /// What a round cancels: an array of the caller's while the list is made. A property of a class would be checked for
  /// overlapping accesses at each operation.
  struct Entry {
    /// Owned. Reading a reference out of an array would count it.
    let operation: Unmanaged<Operation>
    let overridesCancel: Bool
    /// Set before the round is made.
    private(set) var isHeld = false

    init(_ operation: consuming Operation) {
      overridesCancel = operation.overridesCancel
      self.operation = .passRetained(operation)
    }

    /// Holds an operation that has to be asked. Comes before the instant.
    mutating func hold() {
      if overridesCancel { isHeld = operation._withUnsafeGuaranteedRef { $0.countOneMore() } }
    }
  }

  /// What changes during a round. A `cancel()` that waits goes on with the round, so the thread reads and writes here
  /// within a call that does so too.
  private struct Progress {
    /// The first entry whose operation has not been cancelled.
    var next = 0
    /// The entry whose `cancel()` is being called; -1 for none.
    var current = -1
    /// Whether the hold of `current` has been given back.
    var gaveBack = false
  }

  private let entries: [Entry]
  private let progress: UnsafeMutablePointer<Progress>
  private var outer: Unmanaged<CancelRound>?

  /// How many operations are handed over at once.
  private static let cancelledTogether = 64

  init(_ entries: consuming [Entry]) {
    self.entries = entries
    progress = .allocate(capacity: 1)
    progress.initialize(to: Progress())
  }

  deinit { progress.deallocate() }

  /// Sets the flag of the other operations, so that no claim that was prepared before the instant succeeds after this.
  func flag() {
    for entry in entries where !entry.overridesCancel {
      entry.operation._withUnsafeGuaranteedRef { $0.flagCancelled() }
    }
  }

  /// Releases what waits for dependencies, and calls each overridden `cancel()`, in the order of adding.
  func cancel() {
    outer = cplatform_cancel_round().map { Unmanaged<CancelRound>.fromOpaque($0) }
    cplatform_set_cancel_round(Unmanaged.passUnretained(self).toOpaque())
    goOn()
    cplatform_set_cancel_round(outer?.toOpaque())
  }

  private func goOn() {
    var handover = Handover()
    while progress.pointee.next < entries.count {
      let place = progress.pointee.next
      progress.pointee.next = place + 1
      let entry = entries[place]
      if entry.overridesCancel {
        handover.flush(frame: nil)
        let (current, gaveBack) = (progress.pointee.current, progress.pointee.gaveBack)
        (progress.pointee.current, progress.pointee.gaveBack) = (place, false)
        entry.operation._withUnsafeGuaranteedRef { $0.cancel() }
        endHold()
        (progress.pointee.current, progress.pointee.gaveBack) = (current, gaveBack)
      } else {
        entry.operation._withUnsafeGuaranteedRef { $0.markCancelled(into: &handover) }
      }
      entry.operation.release()
      // The handover is flushed so that the workers begin while this thread goes on.
      if place % Self.cancelledTogether == Self.cancelledTogether - 1 { handover.flush(frame: nil) }
    }
    handover.submit()
  }

  /// Gives back the hold of the operation whose `cancel()` is being called, once.
  private func endHold() {
    let place = progress.pointee.current
    guard place >= 0, entries[place].isHeld, !progress.pointee.gaveBack else { return }
    progress.pointee.gaveBack = true
    entries[place].operation._withUnsafeGuaranteedRef { $0.releaseOwnCount() }
  }

  /// The calling thread is about to wait: nothing may be held by a `cancel()` that the thread is in.
  static func carryOutPending() {
    var pointer = cplatform_cancel_round()
    while let here = pointer {
      let round = Unmanaged<CancelRound>.fromOpaque(here).takeUnretainedValue()
      round.endHold()
      round.goOn()
      pointer = round.outer?.toOpaque()
    }
  }
}
