import CPlatform
import OperationJobs
import Primitives

// The end of a join: the owner takes its fork back, or waits for the thread that has it.

extension ForkList {
  /// Called by the owner when `first` has ended and the newest fork was not found private.
  /// - Returns: true when nobody has run the fork, and nobody will.
  func settle(_ fork: Fork) -> Bool {
    let isOver = lock.withLock {
      // Another thread was showing forks, and has not shown this one.
      if fork >= cplatform_forks_private(memory) { return true }
      // On a driven backend the seed says who goes on, without a lock.
      if !pace.isDriven, takeBack(fork) {
        cplatform_forks_set_private(memory, fork)
        return true
      }
      // What runs meanwhile forks behind this fork.
      cplatform_forks_set_next(memory, fork + 1)
      return false
    }
    if isOver { return true }
    defer {
      lock.withLock {
        cplatform_forks_set_next(memory, fork)
        cplatform_forks_set_private(memory, fork)
      }
    }
    task.driven?.passTurn()
    if takeBack(fork) { return true }
    waitFor(fork)
    return false
  }

  private func takeBack(_ fork: Fork) -> Bool {
    guard ForkSlot(memory, Int(fork.pointee.slot)).take(fork) else { return false }
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    return true
  }

  /// Another thread runs the fork: waits until it is done.
  private func waitFor(_ fork: Fork) {
    let scope = memory.pointee.scope
    let driven = DrivenBackends.here ?? task.driven
    let start = cplatform_ticks()
    defer { pace.waited += cplatform_ticks() &- start }
    var round = 0
    while !isDone(fork) {
      if hasRoom, let other = findFork(of: scope, behind: fork) {
        runWaiting(other)
        round = 0
        continue
      }
      round += 1
      if round < Self.looks {
        cplatform_pause()
      } else if driven == nil, cplatform_ticks() &- start < Self.spinTime {
        cplatform_yield()
      } else {
        if let driven {
          cplatform_pay_debts()
          return driven.wait(until: { self.isDone(fork) })
        }
        return sleep(until: fork)
      }
    }
  }

  /// How often a waiter looks before it lets other threads have the CPU between two looks, and how long it looks before
  /// it sleeps, in ticks.
  private static let looks = 100
  private static var spinTime: UInt64 { Pace.ticks(50) }

  private func isDone(_ fork: Fork) -> Bool {
    cplatform_state_load(&fork.pointee.state) == cplatform_fork_done.rawValue
  }

  /// Whether the stack has room for another fork's body.
  private var hasRoom: Bool { cplatform_stack_left() >= cplatform_stack_size() / 2 }

  /// Takes a fork that nobody runs: of this thread, or else of the thread that runs the awaited fork. Both are of the
  /// scope.
  private func findFork(of scope: UInt64, behind fork: Fork) -> Fork? {
    for slot in 0..<ForkSlot.count {
      if let other = ForkSlot(memory, slot).take(of: scope) { return other }
    }
    guard let taker = cplatform_fork_taker(fork) else { return nil }
    for slot in 0..<ForkSlot.count {
      if let other = ForkSlot(taker, slot).take(of: scope) {
        cplatform_state_store(&taker.pointee.wanted, cplatform_forks_more.rawValue)
        return other
      }
    }
    return nil
  }

  private func sleep(until fork: Fork) {
    LaunchFrame.whileBlocked {
      guard
        cplatform_state_replace(&fork.pointee.state, cplatform_fork_shown.rawValue, cplatform_fork_awaited.rawValue)
      else { return }
      while !isDone(fork) {
        _ = cplatform_futex_wait(&fork.pointee.state, cplatform_fork_awaited.rawValue, -1)
      }
    }
  }

  /// Runs a body that blocks the thread. Others may take its place, and its forks, which all are shown.
  func whileBlocked(_ body: () -> Void) {
    let task = self.task
    task.countGuest(-1)
    if let host = task.host {
      host._withUnsafeGuaranteedRef { $0.backend.whileBlocked(body) }
    } else {
      LaunchFrame.leavePlace(body)
    }
    task.countGuest(1)
  }
}

extension LaunchFrame {
  /// Runs `body`, a body that blocks. The backend whose thread this is (if any) is told that this thread's place is
  /// free meanwhile.
  package static func whileBlocked(_ body: () -> Void) {
    cplatform_pay_debts()
    if let forks = cplatform_forks_here() { ForkList.of(forks).whileBlocked(body) } else { leavePlace(body) }
  }

  fileprivate static func leavePlace(_ body: () -> Void) {
    if let box = currentBox { box._withUnsafeGuaranteedRef { $0.backend.whileBlocked(body) } } else { body() }
  }
}

/// - Returns: true when nobody has run the fork, and nobody will.
@usableFromInline @inline(never)
func settleFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void) -> Bool {
  ForkList.unmanaged(cplatform_forks_of(fork))._withUnsafeGuaranteedRef { $0.settle(fork) }
}

/// Called by the owner when `first` has thrown: the fork is dropped if nobody took it, and awaited if not.
@usableFromInline @inline(never)
func dropFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void) {
  if cplatform_fork_pop(fork) { return }
  _ = ForkList.unmanaged(cplatform_forks_of(fork))._withUnsafeGuaranteedRef { $0.settle(fork) }
}
