import CPlatform
import Primitives
import Synchronization

/// The forks of one thread, and what only that thread knows of them. `README.md` here is the protocol.
///
/// A list is never freed, since a thread that looks at it late may be about to read it. A thread keeps its list for its
/// next join, and gives it to others when the thread ends.
final class ForkList: @unchecked Sendable {
  // Sendable: the memory follows the protocol. The other fields are touched by the thread that has the list, alone.

  typealias Memory = UnsafeMutablePointer<cplatform_forks>
  typealias Fork = UnsafeMutablePointer<cplatform_fork>

  /// What a scope, or a fork of another list that runs on top, finds and leaves as it was.
  struct Surroundings {
    fileprivate let isInUse: Bool
    fileprivate let firstPrivate: Fork
    fileprivate let launch: UnsafeMutableRawPointer?
    fileprivate let scope: UInt64
    fileprivate let box: BackendBox?
    fileprivate let level: Int
    fileprivate let host: BackendBox?
    fileprivate let isGuest: Bool
  }

  let memory: Memory
  private var tickets: [ForkTicket] = []
  /// The backend whose threads help.
  private(set) var box: BackendBox?
  /// The backend to which the thread belongs, while it runs a ticket of that backend.
  private(set) var host: BackendBox?
  private(set) var level = Job.middleLevel
  /// Whether the thread is none of the backend's, and counts there as one that runs.
  private var isGuest = false
  private var beginning: UInt64 = 0
  /// How many scopes in a row were shorter than `Patience`, and whether this one is taken to be one as well.
  private var shortScopes = 0
  private var isQuiet = false
  /// When a fork was shown last in this scope; 0 before the first time.
  private var lastShow: UInt64 = 0
  /// After how many forks the owner looks at the clock.
  private var pause = firstPause
  /// How long the scope has waited for forks that others ran, in ticks.
  private var waited: UInt64 = 0
  private var scopesBegun: UInt64 = 0

  private init(_ memory: Memory) {
    self.memory = memory
    tickets = (0..<Self.slots).map { ForkTicket(memory, slot: $0) }
  }

  static let slots = Int(cplatform_fork_slots)
  /// A scope that has run for this long, in ticks, wakes a sleeping thread: waking costs its caller 5 microseconds.
  private static let wakingTime = 20 * cplatform_ticks_per_microsecond()
  private static let firstPause: UInt32 = 8
  /// While every thread is busy, a list shows at most one fork in this time, in ticks: showing one, and its theft, cost
  /// half as much.
  private static let showInterval = 4 * cplatform_ticks_per_microsecond()
  /// After this number of shorter scopes in a row the next one is taken to be short.
  private static let shortScopesThatCount = 3

  static func of(_ memory: Memory) -> ForkList {
    Unmanaged<ForkList>.fromOpaque(memory.pointee.owner.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0 }
  }

  // MARK: - Lists and threads

  /// Lists that no thread has.
  private static let free = Locked(FreeLists())

  private struct FreeLists: ~Copyable { var first: Memory? }

  /// A list for the calling thread; nil when there is no memory for one.
  static func take() -> ForkList? {
    if let list = cplatform_forks_here() ?? cplatform_kept_forks() { return of(list) }
    let list: Memory? = free.withLock {
      guard let first = free.state.first else { return nil }
      free.state.first = first.pointee.following?.assumingMemoryBound(to: cplatform_forks.self)
      return first
    }
    if let list { return of(list) }
    guard let memory = cplatform_forks_make() else { return nil }
    let new = ForkList(memory)
    memory.pointee.owner = Unmanaged.passRetained(new).toOpaque()
    return new
  }

  /// Keeps the list for the thread's next join, if the thread can give it away when it ends.
  private func keep() {
    if cplatform_kept_forks() == memory { return }
    let isKept =
      cplatform_kept_forks() == nil
      && cplatform_at_thread_exit(cplatform_forks_owner) {
        guard let list = cplatform_kept_forks() else { return }
        cplatform_keep_forks(nil)
        ForkList.of(list).giveAway()
      }
    if isKept { cplatform_keep_forks(memory) } else { giveAway() }
  }

  private func giveAway() {
    Self.free.withLock {
      memory.pointee.following = UnsafeMutableRawPointer(Self.free.state.first)
      Self.free.state.first = memory
    }
  }

  // MARK: - Scopes

  var surroundings: Surroundings {
    Surroundings(
      isInUse: cplatform_forks_here() != nil, firstPrivate: memory.pointee.private_, launch: memory.pointee.launch,
      scope: memory.pointee.scope, box: box, level: level, host: host, isGuest: isGuest)
  }

  /// Begins an outermost join.
  func begin(_ box: BackendBox, isGuest: Bool, launch: UnsafeMutablePointer<LaunchFrame>?, level: Int) {
    self.box = box
    self.isGuest = isGuest
    self.level = level
    scopesBegun += 1
    beginning = cplatform_ticks()
    isQuiet = shortScopes >= Self.shortScopesThatCount
    (pause, lastShow, waited) = (Self.firstPause, 0, 0)
    // The address tells lists apart, and the count the scopes of a list.
    enter(launch, scope: UInt64(UInt(bitPattern: memory)) &<< 16 | scopesBegun & 0xFFFF_FFFF)
  }

  private func enter(_ launch: UnsafeMutablePointer<LaunchFrame>?, scope: UInt64) {
    memory.pointee.private_ = memory.pointee.next
    memory.pointee.launch = UnsafeMutableRawPointer(launch)
    memory.pointee.scope = scope
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    cplatform_set_forks(memory)
  }

  /// Ends an outermost join, or a fork of another list: its own forks have ended.
  func end(_ outer: Surroundings) {
    if !outer.isInUse {
      shortScopes = cplatform_ticks() &- beginning &- waited < Self.wakingTime ? shortScopes + 1 : 0
    }
    if isGuest { box?.supervised?.countGuest(-1) }
    leave(outer)
    if !outer.isInUse { keep() }
  }

  private func leave(_ outer: Surroundings) {
    memory.pointee.private_ = outer.firstPrivate
    memory.pointee.launch = outer.launch
    memory.pointee.scope = outer.scope
    (box, level, host, isGuest) = (outer.box, outer.level, outer.host, outer.isGuest)
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    cplatform_set_forks(outer.isInUse ? memory : nil)
  }

  // MARK: - Showing

  /// Called by the owner behind a new fork, when more forks are wanted.
  func show() {
    if isQuiet, cplatform_state_load_relaxed(&memory.pointee.wanted) == cplatform_forks_later.rawValue {
      return wakeLater()
    }
    // The word first, the slots second. Who takes a fork does the two the other way round.
    let asked = cplatform_state_exchange(&memory.pointee.wanted, cplatform_forks_enough.rawValue)
    // Somebody has taken a fork: somebody is awake.
    if asked == cplatform_forks_more.rawValue, lastShow != 0 { isQuiet = false }
    let idle = idlePlaces
    var lacking = min(max(1, idle), Self.slots) - shownCount
    if lacking <= 0 { return isQuiet ? wakeLater() : () }
    if lastShow != 0, idle == 0, cplatform_ticks() &- lastShow < Self.showInterval { return lookLater() }
    while lacking > 0, memory.pointee.private_ < memory.pointee.next {
      guard showOldest() else { break }
      lacking -= 1
    }
    lastShow = cplatform_ticks()
    pause = Self.firstPause
    if lacking > 0 {
      cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    } else if isQuiet {
      lookLater()
    }
  }

  /// Nobody was woken for the forks that others may see: wakes a thread if the scope has become old.
  private func wakeLater() {
    if cplatform_ticks() &- beginning < Self.wakingTime { return lookLater() }
    isQuiet = false
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_enough.rawValue)
    box?.supervised?.wakeForForks()
  }

  /// Looks at the clock again after some further forks, and after twice as many the next time.
  private func lookLater() {
    memory.pointee.countdown = pause
    pause = min(pause * 2, 1_024)
    // A thief may have asked for more meanwhile.
    _ = cplatform_state_replace(
      &memory.pointee.wanted, cplatform_forks_enough.rawValue, cplatform_forks_later.rawValue)
  }

  /// How many threads more could run a fork now.
  private var idlePlaces: Int { box?.supervised?.idlePlaces ?? (box?.workerCount ?? 1) - 1 }

  private var shownCount: Int {
    var count = 0
    for slot in 0..<Self.slots where SlotWord(load(slot)).fork != nil { count += 1 }
    return count
  }

  /// Shows the oldest private fork, the one with the most work behind it.
  /// - Returns: false when no slot is free for it.
  private func showOldest() -> Bool {
    guard let slot = freeSlot() else { return false }
    let fork: Fork = memory.pointee.private_
    memory.pointee.private_ = fork + 1
    fork.pointee.launch = memory.pointee.launch
    fork.pointee.scope = memory.pointee.scope
    fork.pointee.slot = UInt32(slot)
    fork.pointee.backend = box.map { Unmanaged.passUnretained($0).toOpaque() }
    cplatform_fork_set_taker(fork, nil)
    cplatform_state_store_relaxed(&fork.pointee.state, cplatform_fork_shown.rawValue)
    let isSubmitted = withSlot(slot) { word, scope in
      cplatform_scope_store_relaxed(scope, fork.pointee.scope)
      // From here on others may take the fork.
      let before = SlotWord(cplatform_word_load_relaxed(word))
      return SlotWord(cplatform_word_exchange(word, before.showing(fork).bits)).isQueued
    }
    if isSubmitted { return true }
    let ticket = tickets[slot]
    ticket.become(level: level, on: box)
    if submit(ticket.job) { return true }
    // The backend takes nothing from outside any more. The owner alone knows the fork.
    withSlot(slot) { word, _ in cplatform_word_store(word, 0) }
    memory.pointee.private_ = fork
    return false
  }

  private func submit(_ ticket: Job) -> Bool {
    guard let box else { return false }
    guard let supervised = box.supervised else {
      box.backend.submit(ticket)
      return true
    }
    return supervised.show(ticket, wakes: !isQuiet)
  }

  /// A slot without a fork, whose ticket no backend has, or this backend at this level.
  private func freeSlot() -> Int? {
    var usable: Int?
    for slot in 0..<Self.slots {
      let word = SlotWord(load(slot))
      if word.fork != nil { continue }
      if !word.isQueued || tickets[slot].isFor(level: level, on: box) { return slot }
      if tickets[slot].isFor(box) { usable = slot }
    }
    return usable
  }

  private func load(_ slot: Int) -> UInt { withSlot(slot) { word, _ in cplatform_word_load_relaxed(word) } }

  private func withSlot<Result>(
    _ slot: Int, _ body: (UnsafeMutablePointer<UInt>, UnsafeMutablePointer<UInt64>) -> Result
  ) -> Result {
    ForkSlot(memory, slot).with(body)
  }

  // MARK: - Joining

  /// Called by the owner: its newest fork was shown, and `first` has ended.
  /// - Returns: true when nobody has run the fork, and nobody will.
  func settle(_ fork: Fork) -> Bool {
    defer {
      memory.pointee.next = fork
      memory.pointee.private_ = fork
    }
    (box?.supervised as? any DrivenBackend)?.passTurn()
    if takeBack(fork) { return true }
    waitFor(fork)
    return false
  }

  private func takeBack(_ fork: Fork) -> Bool {
    guard ForkSlot(memory, Int(fork.pointee.slot)).take(if: { $0 == fork }) != nil else { return false }
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    return true
  }

  /// Another thread runs the fork: waits until it is done.
  private func waitFor(_ fork: Fork) {
    let scope = memory.pointee.scope
    let start = cplatform_ticks()
    defer { waited += cplatform_ticks() &- start }
    var round = 0
    while !isDone(fork) {
      if hasRoom, let other = findFork(of: scope, behind: fork) {
        run(other)
        round = 0
        continue
      }
      round += 1
      if round < Self.looks {
        cplatform_pause()
      } else if DrivenBackends.here == nil, cplatform_ticks() &- start < Self.spinTime {
        cplatform_yield()
      } else {
        return sleep(until: fork)
      }
    }
  }

  /// How often a waiter looks before it lets other threads have the CPU between two looks, and how long it looks before it
  /// sleeps, in ticks.
  private static let looks = 100
  private static let spinTime = 50 * cplatform_ticks_per_microsecond()

  private func isDone(_ fork: Fork) -> Bool {
    cplatform_state_load(&fork.pointee.state) == cplatform_fork_done.rawValue
  }

  /// Whether the stack has room for another fork's body.
  private var hasRoom: Bool { cplatform_stack_left() >= cplatform_stack_size() / 2 }

  /// Takes a fork that nobody runs: of this thread, or else of the thread that runs the awaited fork. Both are of the scope.
  private func findFork(of scope: UInt64, behind fork: Fork) -> Fork? {
    for slot in 0..<Self.slots {
      if let other = ForkSlot(memory, slot).take(of: scope) { return other }
    }
    guard let taker = cplatform_fork_taker(fork) else { return nil }
    for slot in 0..<Self.slots {
      if let other = ForkSlot(taker, slot).take(of: scope) {
        cplatform_state_store(&taker.pointee.wanted, cplatform_forks_more.rawValue)
        return other
      }
    }
    return nil
  }

  private func sleep(until fork: Fork) {
    if let driven = DrivenBackends.here {
      return driven.wait(until: { self.isDone(fork) })
    }
    LaunchFrame.whileBlocked {
      guard
        cplatform_state_replace(&fork.pointee.state, cplatform_fork_shown.rawValue, cplatform_fork_awaited.rawValue)
      else { return }
      while !isDone(fork) {
        _ = cplatform_futex_wait(&fork.pointee.state, cplatform_fork_awaited.rawValue, -1)
      }
    }
  }

  // MARK: - Blocking

  /// Runs a body that blocks the thread. Others may take its place, and its forks.
  func whileBlocked(_ body: () -> Void) {
    showAll()
    let guestOf = isGuest ? box?.supervised : nil
    guestOf?.countGuest(-1)
    if let backend = host?.backend ?? LaunchFrame.currentQueue?.backend { backend.whileBlocked(body) } else { body() }
    guestOf?.countGuest(1)
  }

  /// Shows as many of the thread's forks as others can see at a time: the thread is about to block.
  private func showAll() {
    while memory.pointee.private_ < memory.pointee.next, showOldest() {}
  }

  // MARK: - Running a fork of others

  /// Runs a fork that the calling thread has taken out of a slot.
  /// - Parameter host: the backend whose job the thread runs; nil for a waiter.
  func run(_ fork: Fork, box: BackendBox? = nil, level: Int? = nil, host: BackendBox? = nil) {
    let outer = surroundings
    if let box { self.box = box }
    if let level { self.level = level }
    if let host {
      self.host = host
      isGuest = false
    }
    cplatform_fork_set_taker(fork, memory)
    let before = LaunchFrame.current
    let launch = fork.pointee.launch?.assumingMemoryBound(to: LaunchFrame.self)
    isQuiet = false
    lastShow = 0
    var frame = LaunchFrame(
      operation: 0, queue: launch?.pointee.queue ?? 0, home: host?.identity ?? before?.pointee.home ?? 0,
      ownsLink: false, previous: launch, depth: (before?.pointee.depth ?? 0) + 1, isFork: true)
    withUnsafeMutablePointer(to: &frame) { frame in
      cplatform_set_frame(frame)
      enter(frame, scope: fork.pointee.scope)
      cplatform_fork_run(fork)
      cplatform_set_frame(before)
    }
    leave(outer)
    if !outer.isInUse { keep() }
    // The last step: the owner may go on, and use the place of the fork for another one.
    let state = cplatform_state_exchange(&fork.pointee.state, cplatform_fork_done.rawValue)
    if state == cplatform_fork_awaited.rawValue { cplatform_futex_wake(&fork.pointee.state, 1) }
  }
}

/// A place in which others see one fork of a list.
struct ForkSlot {
  private let memory: ForkList.Memory
  private let index: Int

  init(_ memory: ForkList.Memory, _ index: Int) { (self.memory, self.index) = (memory, index) }

  @inline(__always)
  func with<Result>(_ body: (UnsafeMutablePointer<UInt>, UnsafeMutablePointer<UInt64>) -> Result) -> Result {
    body(cplatform_forks_slot(memory, Int32(index)), cplatform_forks_slot_scope(memory, Int32(index)))
  }

  /// Takes the fork, when it is of the scope.
  func take(of scope: UInt64) -> ForkList.Fork? {
    with { word, slotScope in
      let seen = SlotWord(cplatform_word_load_relaxed(word))
      guard let fork = seen.fork, cplatform_scope_load_relaxed(slotScope) == scope,
        cplatform_word_replace(word, seen.bits, seen.withoutFork.bits)
      else { return nil }
      return fork
    }
  }

  /// Takes the fork that the closure accepts.
  func take(if accepts: (ForkList.Fork) -> Bool) -> ForkList.Fork? {
    with { word, _ in
      let seen = SlotWord(cplatform_word_load_relaxed(word))
      guard let fork = seen.fork, accepts(fork), cplatform_word_replace(word, seen.bits, seen.withoutFork.bits) else {
        return nil
      }
      return fork
    }
  }
}

/// What a slot holds, in one word: a fork or none, whether a backend has the ticket of the slot, and a number that tells the
/// forks apart that were shown here one after the other.
struct SlotWord {
  let bits: UInt

  private static let queued: UInt = 1
  private static let numbers: UInt = 0b11_1110
  private static let one: UInt = 0b10

  init(_ bits: UInt) { self.bits = bits }

  var fork: ForkList.Fork? { ForkList.Fork(bitPattern: bits & ~(Self.queued | Self.numbers)) }
  var isQueued: Bool { bits & Self.queued != 0 }
  var withoutFork: SlotWord { SlotWord(bits & (Self.queued | Self.numbers)) }

  func showing(_ fork: ForkList.Fork) -> SlotWord {
    SlotWord(UInt(bitPattern: fork) | (bits &+ Self.one) & Self.numbers | Self.queued)
  }

  /// The ticket has come out of the backend, and takes the fork with it.
  var withoutTicket: SlotWord { SlotWord(bits & Self.numbers) }
}

/// What a backend gets in the place of a fork: a job that takes the fork of a slot, if there is one by then. A list has one
/// ticket for each slot for ever.
final class ForkTicket: JobObject {
  private let list: ForkList.Memory
  private let slot: Int
  /// The identity of the backend that has the ticket, or had it last. Touched by the owner of the list alone.
  private var backend: UInt32 = 0

  init(_ list: ForkList.Memory, slot: Int) {
    (self.list, self.slot) = (list, slot)
    super.init(levelWord: UInt32(Job.middleLevel))
  }

  var job: Job { Job(owning: Unmanaged.passUnretained(self)) }

  func become(level: Int, on box: BackendBox?) {
    levelWord.store(UInt32(level), ordering: .relaxed)
    backend = box?.identity ?? 0
  }

  func isFor(_ box: BackendBox?) -> Bool { backend == box?.identity ?? 0 }
  func isFor(level: Int, on box: BackendBox?) -> Bool { isFor(box) && self.level == level }

  override var stepLabel: String { "fork" }

  override var isVoid: Bool {
    ForkSlot(list, slot).with { word, _ in SlotWord(cplatform_word_load(word)).fork == nil }
  }

  /// Takes the fork, asks for the next one, and runs the fork.
  override func runJob() -> JobOutcome {
    OwedReferences.settle()
    let level = self.level
    let fork = ForkSlot(list, slot).with { word, _ in
      var seen = cplatform_word_load(word)
      while !cplatform_word_replace(word, seen, SlotWord(seen).withoutTicket.bits) { seen = cplatform_word_load(word) }
      return SlotWord(seen).fork
    }
    guard let fork else { return JobOutcome() }
    cplatform_state_store(&list.pointee.wanted, cplatform_forks_more.rawValue)
    guard let own = ForkList.take() else { fatalError("Operations: there is no memory to run a fork") }
    // The scope of the fork has not ended, and holds the backend.
    let box = fork.pointee.backend.map { Unmanaged<BackendBox>.fromOpaque($0).takeUnretainedValue() }
    own.run(fork, box: box, level: level, host: box)
    return JobOutcome()
  }
}

@usableFromInline @inline(never)
func settleFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void) -> Bool {
  ForkList.of(cplatform_forks_of(fork)).settle(fork)
}

/// Called by the owner when `first` has thrown: the fork is dropped if nobody took it, and awaited if not.
@usableFromInline @inline(never)
func dropFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void) {
  if cplatform_fork_is_private(fork) {
    cplatform_fork_pop(fork)
  } else {
    _ = ForkList.of(cplatform_forks_of(fork)).settle(fork)
  }
}

/// Called by C behind a new fork.
@_documentation(visibility: internal)
@c(operations_show_forks)
public func operationsShowForks(_ list: UnsafeMutablePointer<cplatform_forks>) { ForkList.of(list).show() }
