import CPlatform
import Primitives

/// One call of `cancelAllOperations`, on the calling thread.
///
/// An operation whose class does not override `cancel()` is cancelled by the library, at the instant at which
/// `Registry.cancelledBefore` is raised. An operation whose class does has to be asked: only its own `cancel()` says
/// whether the operation is cancelled, and may want to do something before the flag is set. Until that method has
/// called `super`, or has returned, the operation is *held*: it neither runs nor is skipped. A hold is one count more in
/// the operation's word, as a dependency that is added late has: `Lifecycle/README.md`, *Cancelling everything*.
///
/// A `cancel()` may wait for its own operation, or for another one that is held. So a wait gives the hold of the
/// operation back whose `cancel()` waits, and calls `cancel()` of the others first.
final class CancelRound {
  private struct Entry {
    /// Owned. Reading a reference out of an array would count it.
    let operation: Unmanaged<Operation>
    let overridesCancel: Bool
    var isHeld = false
  }

  private var entries: [Entry] = []
  /// The first entry whose operation has not been cancelled.
  private var next = 0
  /// The entry whose `cancel()` is being called; -1 for none.
  private var current = -1
  private var outer: Unmanaged<CancelRound>?

  /// How many operations are handed over at once.
  private static let cancelledTogether = 64

  init(capacity: Int) { entries.reserveCapacity(capacity) }

  func add(_ operation: consuming Operation) {
    let overridesCancel = operation.overridesCancel
    entries.append(Entry(operation: .passRetained(operation), overridesCancel: overridesCancel))
  }

  /// Holds the operations that have to be asked. Comes before the instant.
  func hold() {
    for place in entries.indices where entries[place].overridesCancel {
      entries[place].isHeld = entries[place].operation._withUnsafeGuaranteedRef { $0.countOneMore() }
    }
  }

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
    while next < entries.count {
      let place = next
      next += 1
      let entry = entries[place]
      if entry.overridesCancel {
        handover.flush(frame: nil)
        let before = current
        current = place
        entry.operation._withUnsafeGuaranteedRef { $0.cancel() }
        current = before
        endHold(place)
      } else {
        entry.operation._withUnsafeGuaranteedRef { $0.markCancelled(into: &handover) }
      }
      entry.operation.release()
      // The handover is flushed so that the workers begin while this thread goes on.
      if place % Self.cancelledTogether == Self.cancelledTogether - 1 { handover.flush(frame: nil) }
    }
    handover.submit()
  }

  private func endHold(_ place: Int) {
    guard entries[place].isHeld else { return }
    entries[place].isHeld = false
    entries[place].operation._withUnsafeGuaranteedRef { $0.releaseOwnCount() }
  }

  /// The calling thread is about to wait: nothing may be held by a `cancel()` that the thread is in.
  static func carryOutPending() {
    var pointer = cplatform_cancel_round()
    while let here = pointer {
      let round = Unmanaged<CancelRound>.fromOpaque(here).takeUnretainedValue()
      if round.current >= 0 { round.endHold(round.current) }
      round.goOn()
      pointer = round.outer?.toOpaque()
    }
  }
}
