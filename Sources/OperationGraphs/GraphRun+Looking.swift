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
      if Self.epoch(of: word) != ticket.epoch {
        // A thread that is about to replace the ticket may find that the backend refuses the new one.
        ticketLock.withLock { word = attention.pointer.pointee.word.load(ordering: .relaxed) }
        if Self.epoch(of: word) != ticket.epoch { return false }
      }
      let (exchanged, seen) = attention.pointer.pointee.word.compareExchange(
        expected: word, desired: (word & ~Self.queued) &+ Self.looker, ordering: .sequentiallyConsistent)
      if exchanged { return true }
      word = seen
    }
  }

  /// The ticket waits at the level of before: another one takes its place. Called by the owner before the run begins,
  /// or by a thread that changes the level.
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
        let own = Unmanaged.passRetained(self)
        if crew.show(new.job) {
          ticket = new
          return
        }
        // The backend takes nothing from outside any more. The old ticket, which it has, counts again.
        attention.pointer.pointee.word.wrappingSubtract(1 << 32, ordering: .sequentiallyConsistent)
        own.release()
        old.release()
        return
      }
    }
  }

  // MARK: - Working

  /// Runs nodes until none is left for this thread.
  /// - Parameters:
  ///   - first: a node that the caller has taken, or `noNode`.
  ///   - pace: of a thread that helps, and stops when its lane is empty, its time is over, or nodes are short. Nil for
  ///     the owner, which also takes nodes of others.
  private func work(_ first: UInt32, _ lane: Int, _ pace: UnsafeMutablePointer<HelpingPace>? = nil) {
    var next = first
    while true {
      if isDriven { crew.passTurn() }
      if next == Self.noNode { next = takeOwn(lane) }
      if next == Self.noNode, pace == nil { next = steal(beside: lane) }
      if next == Self.noNode { return }
      next = run(next, lane, pace)
      guard let pace, isDriven || pace.pointee.stops else { continue }
      if next != Self.noNode { add(next, lane) }
      return
    }
  }

  /// The caller looks, and has looked once more behind saying that it does not.
  private func takeAsLooker(_ lane: Int) -> UInt32 {
    var node = takeOwn(lane)
    if node == Self.noNode { node = steal(beside: lane) }
    if node == Self.noNode { return node }
    endLooking()
    // Others have left the rest to this thread.
    if hasReady { offer() }
    return node
  }

  /// Called by the owner: returns when the run has ended.
  func workAsOwner(_ lane: Int) {
    var first = Self.noNode
    while true {
      work(first, lane)
      if hasEnded { return }
      first = lookAsOwner(lane)
      if hasEnded { return }
    }
  }

  private func lookAsOwner(_ lane: Int) -> UInt32 {
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
    let node = takeAsLooker(lane)
    if node == Self.noNode { endLooking() }
    return node
  }

  private var isAsleep: Bool {
    attention.pointer.pointee.word.load(ordering: .sequentiallyConsistent) & Self.sleeps != 0
  }

  /// How long a thread that helps looks before it goes back to its backend, in ticks.
  private static let longestLook = 10 * cplatform_ticks_per_microsecond()

  /// Called by a thread of the backend that counts as one that looks.
  func help() {
    var pace = HelpingPace()
    withUnsafeMutablePointer(to: &pace) { help($0) }
  }

  private func help(_ pace: UnsafeMutablePointer<HelpingPace>) {
    var lane = Self.noLane
    var began = cplatform_ticks()
    var others: UInt64 = 0
    while true {
      let now = isDriven ? 0 : cplatform_ticks()
      let node = now < pace.pointee.next ? Self.noNode : takeAsLooker(lane)
      if node != Self.noNode {
        if lane < 0 { lane = claimLane() }
        pace.pointee.begin(isQuiet: others == whatOthersRun(beside: lane))
        help(with: node, lane, pace)
        if isDriven || pace.pointee.isOver { break }
        pace.pointee.rest()
        others = whatOthersRun(beside: lane)
        began = pace.pointee.next
        beginLooking()
      } else if !isDriven, now < began &+ Self.longestLook {
        cplatform_pause()
      } else {
        endLooking()
        break
      }
    }
    leave(lane)
  }

  /// Runs nodes until there is none, on a thread that does not count as one that looks.
  private func helpUntilNothing() {
    while case let node = steal(beside: Self.noLane), node != Self.noNode {
      help(with: node, Self.noLane, nil)
    }
  }

  /// What is left in the lane is for others.
  private func leave(_ lane: Int) {
    while case let node = takeOwn(lane), node != Self.noNode { add(node, Self.noLane) }
    giveBack(lane)
    // A node in this thread's hands keeps the run from ending while the ticket is submitted.
    let node = steal(beside: Self.noLane)
    if node == Self.noNode { return }
    whileItGoesOn {
      add(node, Self.noLane)
      offer()
    }
  }

  /// Runs a node and what comes behind it, with what the owner sees around.
  private func help(with node: UInt32, _ lane: Int, _ pace: UnsafeMutablePointer<HelpingPace>?) {
    // All nodes that this thread takes meanwhile are of one run.
    whileItGoesOn {
      let crew = crew
      if !crew.help(crew.newestValue, { whileWorking { work(node, lane, pace) } }) {
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
