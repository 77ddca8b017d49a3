import CPlatform
import OperationForks
@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

// Who looks for ready nodes. The word of attention says whether the backend has a ticket of the run, whether the owner
// sleeps, how many threads look for nodes, and the epoch of the ticket. Behind a node that is added for others a thread
// passes a fence, and then reads the word. A thread that looks no more says so in the word, and then looks once more.

extension GraphRun {
  static let queued: UInt64 = 1
  private static let sleeps: UInt64 = 2
  private static let looker: UInt64 = 4
  private static let lookers: UInt64 = 0xFFFF_FFFC

  static func epoch(of word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word >> 32) }

  private func beginLooking() {
    attention.pointer.pointee.word.wrappingAdd(Self.looker, ordering: .sequentiallyConsistent)
  }

  private func endLooking() {
    attention.pointer.pointee.word.wrappingSubtract(Self.looker, ordering: .sequentiallyConsistent)
  }

  /// Nodes were added that another thread may take: somebody will look.
  func offer() {
    if isDriven { attention.pointer.pointee.news.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let word = attention.pointer.pointee.word.load(ordering: .relaxed)
    if word & (Self.queued | Self.lookers) == 0 || word & Self.sleeps != 0 { offerToNobody() }
  }

  /// Nobody looks, or the owner sleeps.
  @inline(never)
  private func offerToNobody() {
    wakeOwner()
    ticketLock.lock()
    let (crew, isOfTask) = (self.crew, waiter != nil)
    // A backend of a user's may do anything in `submit`. Its tickets keep their level.
    if !isOwn { ticketLock.unlock() }
    var isRefused = false
    var word = attention.pointer.pointee.word.load(ordering: .relaxed)
    while word & (Self.queued | Self.lookers) == 0 {
      let (exchanged, seen) = attention.pointer.pointee.word.compareExchange(
        expected: word, desired: word | Self.queued, ordering: .sequentiallyConsistent)
      word = seen
      if !exchanged { continue }
      isRefused = !submit(to: crew)
      break
    }
    if isOwn { ticketLock.unlock() }
    // The backend takes nothing from outside any more. An owner that is a thread runs what is left.
    if isRefused, isOfTask { helpUntilNothing() }
  }

  private func wake() {
    attention.pointer.pointee.news.wrappingAdd(1, ordering: .sequentiallyConsistent)
    attention.pointer.pointee.news.futexWake(1)
  }

  func wakeOwner() {
    if isDriven { attention.pointer.pointee.news.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    let old = attention.pointer.pointee.word.bitwiseAnd(~Self.sleeps, ordering: .sequentiallyConsistent).oldValue
    if old & Self.sleeps != 0 { wake() }
  }

  // MARK: - Tickets

  /// The caller has set *queued*.
  /// - Returns: false when the backend takes nothing from outside any more.
  private func submit(to crew: Crew) -> Bool {
    ticket.setLevel(crew.level)
    // The run stays until the backend has run the ticket.
    let own = Unmanaged.passRetained(self)
    if crew.show(ticket.job) { return true }
    attention.pointer.pointee.word.bitwiseAnd(~Self.queued, ordering: .sequentiallyConsistent)
    own.release()
    return false
  }

  /// The backend runs a ticket.
  /// - Returns: false when the ticket was replaced.
  func take(_ ticket: GraphTicket) -> Bool {
    var word = attention.pointer.pointee.word.load(ordering: .relaxed)
    while true {
      if Self.epoch(of: word) != ticket.epoch { return false }
      let (exchanged, seen) = attention.pointer.pointee.word.compareExchange(
        expected: word, desired: (word & ~Self.queued) &+ Self.looker, ordering: .sequentiallyConsistent)
      if exchanged { return true }
      word = seen
    }
  }

  /// The ticket waits at the level of before: another one takes its place. Called by the owner before the run begins, or
  /// by a thread that changes the level.
  func levelChanged() {
    guard isOwn else { return }
    ticketLock.withLock {
      var word = attention.pointer.pointee.word.load(ordering: .relaxed)
      let level = crew.level
      while word & Self.queued != 0, ticket.level < level {
        let old = Unmanaged.passRetained(ticket)
        let (exchanged, seen) = attention.pointer.pointee.word.compareExchange(
          expected: word, desired: word &+ (1 << 32), ordering: .sequentiallyConsistent)
        word = seen
        if !exchanged {
          old.release()
          continue
        }
        let new = GraphTicket(epoch: ticket.epoch &+ 1)
        new.run = .passUnretained(self)
        new.setLevel(level)
        ticket = new
        let own = Unmanaged.passRetained(self)
        if !crew.show(new.job) { own.release() }
        return
      }
    }
  }

  // MARK: - Working

  /// Runs nodes until none is left for this thread.
  /// - Parameters:
  ///   - first: a node that the caller has taken; nil for none.
  ///   - time: when a thread that helps stops; nil for never.
  private func work(_ first: UInt32?, _ lane: Int?, until time: HelpingTime? = nil) {
    var time = time
    var next = first
    while true {
      if isDriven { crew.passTurn() }
      guard let node = next ?? lane.flatMap(takeOwn) ?? steal(beside: lane) else { return }
      next = run(node, lane)
      guard time != nil, isDriven || time?.isOver() == true else { continue }
      if let node = next { add(node, lane) }
      return
    }
  }

  /// The time of a thread that helps. The clock is read behind each node, or behind some nodes where nodes are short.
  private struct HelpingTime {
    private let end = cplatform_ticks() &+ GraphRun.longestHelp
    private var last = cplatform_ticks()
    private var pause = 1
    private var countdown = 1

    var isOverNow: Bool { cplatform_ticks() > end }

    mutating func isOver() -> Bool {
      countdown -= 1
      if countdown > 0 { return false }
      let now = cplatform_ticks()
      pause = now &- last < cplatform_ticks_per_microsecond() ? min(2 * pause, 16) : 1
      (last, countdown) = (now, pause)
      return now > end
    }
  }

  /// The caller looks, and has looked once more behind saying that it does not.
  private func takeAsLooker(_ lane: Int?) -> UInt32? {
    guard let node = steal(beside: lane) else { return nil }
    endLooking()
    // Others have left the rest to this thread.
    if hasReady { offer() }
    return node
  }

  /// Called by the owner: returns when the run has ended.
  func workAsOwner(_ lane: Int?) {
    var first: UInt32?
    while true {
      work(first, lane)
      if hasEnded { return }
      first = lookAsOwner(lane)
      if hasEnded { return }
    }
  }

  private func lookAsOwner(_ lane: Int?) -> UInt32? {
    let seen = attention.pointer.pointee.news.load(ordering: .acquiring)
    beginLooking()
    let isNews = { [self] in
      isDriven ? attention.pointer.pointee.news.load(ordering: .acquiring) != seen || hasEnded : hasEnded || hasReady
    }
    if !hasReady {
      crew.wait(until: isNews) {
        // Others begin to look, or to wake this thread.
        attention.pointer.pointee.word.bitwiseOr(Self.sleeps, ordering: .sequentiallyConsistent)
        endLooking()
        while !isNews(), isAsleep { attention.pointer.pointee.news.futexWait(while: seen) }
        beginLooking()
        attention.pointer.pointee.word.bitwiseAnd(~Self.sleeps, ordering: .sequentiallyConsistent)
      }
    }
    if let node = takeAsLooker(lane) { return node }
    endLooking()
    return nil
  }

  private var isAsleep: Bool {
    attention.pointer.pointee.word.load(ordering: .sequentiallyConsistent) & Self.sleeps != 0
  }

  /// How often a thread that helps looks before it goes back to its backend.
  private static let looks = 200

  /// Called by a thread of the backend that counts as one that looks.
  func help() {
    let time = HelpingTime()
    var lane: Int?
    var round = 0
    while true {
      if let node = takeAsLooker(lane) {
        lane = lane ?? claimLane()
        help(with: node, lane, until: time)
        if isDriven || time.isOverNow { break }
        beginLooking()
        round = 0
      } else if round < Self.looks, !isDriven {
        cplatform_pause()
        round += 1
      } else {
        endLooking()
        break
      }
    }
    leave(lane)
  }

  /// Runs nodes until there is none, on a thread that does not count as one that looks.
  private func helpUntilNothing() {
    while let node = steal(beside: nil) { help(with: node, nil, until: nil) }
  }

  /// What is left in the lane is for others.
  private func leave(_ lane: Int?) {
    if let lane {
      while let node = takeOwn(lane) { add(node, nil) }
      giveBack(lane)
    }
    // A node in this thread's hands keeps the run from ending while the ticket is submitted.
    if let node = steal(beside: nil) {
      whileItGoesOn {
        add(node, nil)
        offer()
      }
    }
  }

  /// Runs a node and what comes behind it, with what the owner sees around.
  private func help(with node: UInt32, _ lane: Int?, until time: HelpingTime?) {
    // All nodes that this thread takes meanwhile are of one run.
    whileItGoesOn {
      let crew = crew
      if !crew.help(crew.newestValue, { work(node, lane, until: time) }) {
        fatalError("Operations: there is no memory to run a node of a graph")
      }
    }
  }
}

/// What a backend gets: a job that runs nodes of a run, if some are ready by then. A run has one, beside those that a
/// rise of its level has left behind.
package final class GraphTicket: JobObject {
  let epoch: UInt32
  /// Holds the ticket. Who gives the ticket to a backend leaves a reference to the run.
  var run: Unmanaged<GraphRun>?

  init(epoch: UInt32) {
    self.epoch = epoch
    super.init()
  }

  var job: Job { Job(owning: Unmanaged.passUnretained(self)) }

  override package var stepLabel: String { "graph" }

  override package var isVoid: Bool { run?._withUnsafeGuaranteedRef { $0.hasEnded } ?? true }

  override package func runJob() -> JobOutcome {
    OwedReferences.settle()
    guard let run else { return JobOutcome() }
    let isTaken = run._withUnsafeGuaranteedRef { $0.take(self) }
    if isTaken { run._withUnsafeGuaranteedRef { $0.help() } }
    // A ticket that was replaced belongs to nobody else. The other one may go with its run.
    run.release()
    return JobOutcome(isReleased: !isTaken)
  }
}
