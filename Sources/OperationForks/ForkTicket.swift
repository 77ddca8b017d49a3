import CPlatform
@_spi(Jobs) import OperationJobs
import Synchronization

/// What a backend gets in the place of a fork: a job that takes the fork of a slot, if there is one by then. A slot has
/// one ticket as long as the backends of the thread's joins give tickets back, and the list holds the ticket.
package final class ForkTicket: JobObject {
  private let list: ForkList.Memory
  private let slot: Int
  /// Tells the tickets of a slot apart.
  let epoch: UInt
  /// Who has the ticket, or had it last; 0 for nobody. Touched under the lock of the list alone.
  private var holder: UInt32 = 0

  init(_ list: ForkList.Memory, slot: Int, epoch: UInt = 0) {
    (self.list, self.slot, self.epoch) = (list, slot, epoch)
  }

  var job: Job { Job(owning: Unmanaged.passUnretained(self)) }

  /// No backend has the ticket: says for which one it is from now on.
  func become(level: Int, of home: BackendHome) {
    setLevel(level)
    holder = home.number
  }

  func isOf(_ home: BackendHome) -> Bool { holder == home.number }

  override package var stepLabel: String { "fork" }

  override package var isVoid: Bool { ForkSlot(list, slot).isVoid(self) }

  /// Takes the fork, asks for the next one, and runs the fork.
  override package func runJob() -> JobOutcome {
    OwedReferences.settle()
    let level = self.level
    guard let own = ForkList.take()?.takeUnretainedValue() else {
      // There is no memory for a list. The owner runs the fork.
      return JobOutcome(isReleased: !ForkSlot(list, slot).giveBack(self))
    }
    let fork: ForkList.Fork
    switch ForkSlot(list, slot).take(with: self) {
    case .fork(let taken): fork = taken
    case .nothing:
      own.keepUnlessUsed()
      return JobOutcome()
    case .replaced:
      own.keepUnlessUsed()
      // The thread that replaced the ticket has left a reference to it.
      return JobOutcome(isReleased: true)
    }
    cplatform_state_store(&list.pointee.wanted, cplatform_forks_more.rawValue)
    own.runAsJob(fork, level: level)
    return JobOutcome()
  }
}

/// What backends and the core ask of forks.
package enum Forks {
  /// The forks of one thread that others may see at a time.
  package static var mostShown: Int { ForkSlot.count }

  /// Shows forks that other threads keep to themselves while they are in long bodies. Called without locks by a thread
  /// of the pool that has found no job. One load when no thread of the program has ever joined.
  /// - Parameter pool: the object that the backend's `BackendHome` was made with.
  /// - Returns: whether a fork was shown, which is then a job of the pool.
  package static func uncover(for pool: AnyObject) -> Bool { ForkList.uncover(for: pool) }

  /// Asks the threads of the pool for forks: behind its next one each looks how many places are free. Called without
  /// locks by a thread that has given its place up, before its last look (`areKept` or `uncover`). Either the owner of
  /// a fork sees that it was asked, and then the place, or the last look sees the fork.
  package static func ask(of pool: AnyObject) { ForkList.ask(of: ObjectIdentifier(pool)) }

  /// Whether `uncover` may find forks. Called by a thread that has asked for them and is about to sleep.
  package static func areKept(for pool: AnyObject) -> Bool { ForkList.areKept(for: ObjectIdentifier(pool)) }

  // What the core asks of forks.

  /// Shows as many of the calling thread's forks as others can see at a time: the thread is about to block.
  package static func showAll() { if let forks = cplatform_forks_here() { ForkList.of(forks).showAll() } }

  /// The level of an operation has changed that runs. Called without locks, behind the change. One load when no thread
  /// of the program has ever joined, and else O(threads that have).
  package static func levelChanged(of operation: UInt) {
    ForkList.levelChanged(of: operation)
    Crew.levelChanged(of: operation)
  }
}
