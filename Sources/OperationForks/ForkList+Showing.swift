import CPlatform
import OperationJobs
import Primitives
import Scheduling

// When forks become visible to other threads.

extension ForkList {
  /// Called by the owner behind a new fork, when more forks are wanted.
  func show() {
    if pace.isQuiet, cplatform_state_load_relaxed(&memory.pointee.wanted) == cplatform_forks_later.rawValue {
      return wakeLater()
    }
    // The word first, the slots second. Who takes a fork does the two the other way round.
    let asked = cplatform_state_exchange(&memory.pointee.wanted, cplatform_forks_enough.rawValue)
    // Somebody has taken a fork, or asks for one before going to sleep: somebody is awake.
    if asked == cplatform_forks_more.rawValue, pace.hasShown { pace.isQuiet = false }
    guard let home = task.home, !task.isAlone else { return }
    home._withUnsafeGuaranteedRef { home in
      let idle = home.idlePlaces
      let wanted = home.visibility.wanted(idle: idle)
      var lacking = min(wanted, ForkSlot.count) - shownCount
      if lacking <= 0 { return pace.isQuiet ? wakeLater() : wanted == 0 ? lookLater() : () }
      if pace.isSoon(home.visibility.interval(idle: idle)) { return lookLater() }
      let wakes = !pace.isQuiet
      let wakesAgain = wakes && pace.wakesAgain
      guarding(home) {
        let first: Fork = memory.pointee.private_
        let end = min(first + lacking, memory.pointee.next)
        lacking -= show(first, before: end, on: home, wakes: wakes, wakesAgain: wakesAgain)
      }
      pace.shown()
      if lacking > 0 {
        cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
      } else if pace.isQuiet {
        lookLater()
      }
    }
  }

  /// Nobody was woken for the forks that others may see: wakes a thread if the scope has become old.
  private func wakeLater() {
    guard pace.isOld else { return lookLater() }
    pace.isQuiet = false
    // A thief may have asked for more meanwhile.
    _ = cplatform_state_replace(
      &memory.pointee.wanted, cplatform_forks_later.rawValue, cplatform_forks_enough.rawValue)
    task.home?._withUnsafeGuaranteedRef { $0.host?.wakeForForks() }
  }

  /// Looks at the clock again after some further forks.
  private func lookLater() {
    memory.pointee.countdown = pace.nextPause()
    // A thief may have asked for more meanwhile.
    _ = cplatform_state_replace(
      &memory.pointee.wanted, cplatform_forks_enough.rawValue, cplatform_forks_later.rawValue)
  }

  private var shownCount: Int {
    var count = 0
    for slot in 0..<ForkSlot.count where ForkSlot(memory, slot).now.hasFork { count += 1 }
    return count
  }

  /// Shows as many of the thread's forks as others can see at a time: the thread is about to block.
  func showAll() {
    task.home?._withUnsafeGuaranteedRef { home in
      guarding(home) { _ = show(memory.pointee.private_, before: memory.pointee.next, on: home, wakes: true) }
    }
  }

  /// Runs a body of the owner that shows forks. On a backend of a user's nobody else shows forks, and `submit` is the
  /// user's code: that code runs without a lock.
  private func guarding(_ home: BackendHome, _ body: () -> Void) {
    if home.host == nil { body() } else { lock.withLock(body) }
  }

  /// Called as `guarding` calls, maybe by another thread than the owner. Shows private forks, the oldest first: the
  /// oldest has the most work behind it.
  /// - Parameters:
  ///   - first: the oldest private fork.
  ///   - end: the first fork that is not shown.
  ///   - wakes: whether a thread is woken for a ticket that the backend gets.
  ///   - wakesAgain: whether a thread is woken for a ticket that the backend has already.
  /// - Returns: how many were shown; fewer when slots are lacking.
  private func show(
    _ first: Fork, before end: Fork, on home: BackendHome, wakes: Bool, wakesAgain: Bool = false
  ) -> Int {
    var fork = first
    while fork < end, show(fork, on: home, wakes: wakes, wakesAgain: wakesAgain) { fork += 1 }
    cplatform_forks_set_private(memory, fork)
    return fork - first
  }

  /// Called as `guarding` calls.
  /// - Returns: false when no slot is free for the fork, or the backend takes no jobs any more.
  private func show(_ fork: Fork, on home: BackendHome, wakes: Bool, wakesAgain: Bool) -> Bool {
    guard let index = freeSlot(home) else { return false }
    fork.pointee.launch = memory.pointee.launch
    fork.pointee.scope = memory.pointee.scope
    fork.pointee.slot = UInt32(index)
    fork.pointee.home = ForkOrigin.word(home: .passUnretained(home), maker: task.maker)
    cplatform_fork_set_taker(fork, nil)
    cplatform_state_store_relaxed(&fork.pointee.state, cplatform_fork_shown.rawValue)
    let slot = ForkSlot(memory, index)
    if slot.show(fork) {
      // Nobody may have been woken for the ticket when it was submitted.
      if wakesAgain { home.host?.wakeForForks() }
      return true
    }
    let ticket = tickets[index]
    ticket.become(level: task.level, of: home)
    if home.show(ticket.job, wakes: wakes) { return true }
    // The backend takes nothing from outside any more, and the ticket is here again. The fork is private again, unless
    // a waiter of the scope has taken it out of the slot.
    if case .fork = slot.take(with: ticket) { return false }
    return true
  }

  /// A slot without a fork: no backend has its ticket, or this backend has, best at the level of the task. Else the
  /// slot gets a new ticket: another backend may have the old one for long, or for ever, and so may this one at a less
  /// urgent level.
  private func freeSlot(_ home: BackendHome) -> Int? {
    var (usable, lost): (Int?, Int?)
    for slot in 0..<ForkSlot.count {
      let word = ForkSlot(memory, slot).now
      if word.hasFork { continue }
      if !word.isQueued { return slot }
      guard tickets[slot].isOf(home), tickets[slot].level >= task.level else {
        // When the other backend runs the ticket is nothing that a seed decides.
        if home.driven != nil {
          _ = replaceTicket(of: slot, holdingFork: false)
          return slot
        }
        lost = slot
        continue
      }
      if tickets[slot].level == task.level { return slot }
      usable = slot
    }
    if usable == nil, let lost { _ = replaceTicket(of: lost, holdingFork: false) }
    return usable ?? lost
  }

  /// The old ticket, when its backend runs it, finds the slot with another epoch, and releases itself.
  /// - Parameter holdingFork: whether the slot has a fork, which stays there. If not, the slot is empty.
  /// - Returns: false when a thread has taken the fork, or has run the old ticket, in this instant.
  private func replaceTicket(of slot: Int, holdingFork: Bool) -> Bool {
    // First the reference: as soon as the slot has another epoch, a thread of the backend may release the ticket.
    let old = Unmanaged.passRetained(tickets[slot])
    guard let epoch = ForkSlot(memory, slot).replaceTicket(holdingFork: holdingFork) else {
      old.release()
      return false
    }
    tickets[slot] = ForkTicket(memory, slot: slot, epoch: epoch)
    return true
  }

  // MARK: - Levels

  /// The level of the innermost operation. A task of Swift's that is more urgent counts, too.
  static func level(of launch: UnsafeMutablePointer<LaunchFrame>?, in task: Task) -> Int {
    let operation = LaunchFrame.operation(at: launch)
    if operation == 0 { return task.level }
    let level = JobObject.object(operation)._withUnsafeGuaranteedRef { $0.level }
    return task.maker == nil ? level : max(level, task.level)
  }

  /// The level of an operation has changed that runs. Called without locks, behind the change. One load when no thread
  /// of the program has ever joined, and else O(threads that have).
  static func levelChanged(of word: UInt) {
    _ = any { list in
      list.lock.withLock {
        // The frames lie on the stacks of threads that take this lock before they leave the frames.
        let launch = list.memory.pointee.launch?.assumingMemoryBound(to: LaunchFrame.self)
        if LaunchFrame.operation(at: launch) == word { list.levelChanged(launch) }
        for told in list.told where told.isOf(word) { told.work.levelChanged() }
      }
      return false
    }
  }

  /// Called with the lock. What is shown at a less urgent level gets a ticket of the new one. On a backend of a user's
  /// the forks that are shown keep their level: `submit` is the user's code.
  private func levelChanged(_ launch: UnsafeMutablePointer<LaunchFrame>?) {
    task.level = Self.level(of: launch, in: task)
    guard let home = task.home?._withUnsafeGuaranteedRef({ $0 }), home.host != nil else { return }
    for slot in 0..<ForkSlot.count where tickets[slot].level < task.level {
      guard let fork = ForkSlot(memory, slot).now.fork(of: memory), fork.pointee.scope == memory.pointee.scope,
        tickets[slot].isOf(home), replaceTicket(of: slot, holdingFork: true)
      else { continue }
      let ticket = tickets[slot]
      ticket.become(level: task.level, of: home)
      // A backend that takes nothing any more leaves the fork to its owner and to waiters.
      if !home.show(ticket.job, wakes: true) { _ = ForkSlot(memory, slot).giveBack(ticket) }
    }
  }

  // MARK: - What others keep

  /// Shows forks that other threads keep to themselves in long bodies: for a thread of the pool that has found nothing.
  /// - Returns: whether a fork was shown.
  static func uncover(for pool: AnyObject) -> Bool {
    any { $0.uncover(for: ObjectIdentifier(pool)) }
  }

  static func ask(of pool: ObjectIdentifier) {
    guard cplatform_has_barrier_on_all_threads() else { return }
    var hasAsked = false
    _ = any { list in
      let wanted = cplatform_state_load(&list.memory.pointee.wanted)
      if wanted != cplatform_forks_more.rawValue, list.lock.withLock({ list.pool == pool }) {
        cplatform_state_store(&list.memory.pointee.wanted, cplatform_forks_more.rawValue)
        hasAsked = true
      }
      return false
    }
    // An owner stores its fork, and then loads `wanted`, without a fence between the two.
    if hasAsked { cplatform_barrier_on_all_threads() }
  }

  static func areKept(for pool: ObjectIdentifier) -> Bool {
    any { list in list.mayKeep && list.lock.withLock { list.pool == pool } }
  }

  /// Whether the list has private forks that can be shown in the owner's place, or another thread is just doing so.
  private var mayKeep: Bool {
    let first = cplatform_forks_private(memory)
    return (first < cplatform_forks_next(memory) || first == memory.pointee.end)
      && (0..<ForkSlot.count).contains { !ForkSlot(memory, $0).now.hasFork } && cplatform_has_barrier_on_all_threads()
  }

  /// Waits for a thread that holds the lock: it may have counted free places before this thread gave its own up.
  private func uncover(for pool: ObjectIdentifier) -> Bool {
    guard mayKeep else { return false }
    lock.lock()
    defer { lock.unlock() }
    guard self.pool == pool, let home = task.home else { return false }
    return home._withUnsafeGuaranteedRef { home in
      let first: Fork = memory.pointee.private_
      // An owner that takes its newest fork back moves `next` first, and looks at `private_` second. Either this thread
      // sees `next` moved, or the owner sees `end`, and comes to `settle`, where the lock holds it up.
      cplatform_forks_set_private(memory, memory.pointee.end)
      cplatform_barrier_on_all_threads()
      let count = max(0, min(cplatform_forks_next(memory) - first, max(1, home.idlePlaces)))
      return show(first, before: first + count, on: home, wakes: true) > 0
    }
  }
}

/// Called by C behind a new fork.
@_documentation(visibility: internal)
@c(operations_show_forks)
public func operationsShowForks(_ list: UnsafeMutablePointer<cplatform_forks>) {
  ForkList.unmanaged(list)._withUnsafeGuaranteedRef { $0.show() }
}
