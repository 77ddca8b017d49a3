import CPlatform

/// A place in which others see one fork of a list.
struct ForkSlot {
  static let count = Int(cplatform_fork_slots)

  private let memory: ForkList.Memory
  private let index: Int

  init(_ memory: ForkList.Memory, _ index: Int) { (self.memory, self.index) = (memory, index) }

  private var word: UnsafeMutablePointer<UInt> { cplatform_forks_slot(memory, Int32(index)) }
  private var scope: UnsafeMutablePointer<UInt64> { cplatform_forks_slot_scope(memory, Int32(index)) }

  var now: SlotWord { SlotWord(cplatform_word_load_relaxed(word)) }

  /// Called by a thread with the lock of the list, of an empty slot. From now on others may take the fork.
  /// - Returns: whether a backend has the ticket of the slot already.
  func show(_ fork: ForkList.Fork) -> Bool {
    cplatform_scope_store_relaxed(scope, fork.pointee.scope)
    return SlotWord(cplatform_word_exchange(word, now.showing(fork).bits)).isQueued
  }

  /// Takes the fork, when it is of the scope. The word is read before the scope: `show` writes them the other way
  /// round.
  func take(of scope: UInt64) -> ForkList.Fork? {
    let seen = SlotWord(cplatform_word_load(word))
    guard seen.hasFork, cplatform_scope_load_relaxed(self.scope) == scope,
      cplatform_word_replace(word, seen.bits, seen.withoutFork.bits)
    else { return nil }
    return seen.fork(of: memory)
  }

  /// Takes this fork.
  /// - Returns: false when the slot has another one, or none.
  func take(_ fork: ForkList.Fork) -> Bool {
    let seen = now
    return seen.fork(of: memory) == fork && cplatform_word_replace(word, seen.bits, seen.withoutFork.bits)
  }

  /// Takes whatever fork the slot has.
  func clear() {
    let seen = now
    if seen.hasFork, !cplatform_word_replace(word, seen.bits, seen.withoutFork.bits) { clear() }
  }

  /// What a ticket finds.
  enum Find {
    case fork(ForkList.Fork)
    case nothing
    /// The slot has another ticket by now.
    case replaced
  }

  /// Called by a thread that was given the ticket: takes the fork if there is one. No backend has the ticket any more.
  func take(with ticket: ForkTicket) -> Find {
    while true {
      let seen = SlotWord(cplatform_word_load(word))
      if seen.epoch != ticket.epoch { return .replaced }
      if cplatform_word_replace(word, seen.bits, seen.withoutTicket.bits) {
        return seen.fork(of: memory).map { .fork($0) } ?? .nothing
      }
    }
  }

  /// Called by a thread that was given the ticket and cannot run a fork: leaves the fork to its owner and to waiters.
  /// - Returns: false when the slot has another ticket by now.
  func giveBack(_ ticket: ForkTicket) -> Bool {
    while true {
      let seen = SlotWord(cplatform_word_load(word))
      if seen.epoch != ticket.epoch { return false }
      if cplatform_word_replace(word, seen.bits, seen.withoutQueue.bits) { return true }
    }
  }

  /// Called by a thread with the lock of the list, of a slot whose ticket some backend has.
  /// - Parameter holdingFork: whether the slot is to have a fork, which stays there, or none.
  /// - Returns: the epoch of the ticket that the slot is to get; nil when a thread has taken the fork, or has run the
  ///   ticket, in this instant.
  func replaceTicket(holdingFork: Bool) -> UInt? {
    let seen = now
    let next = holdingFork ? seen.nextEpochWithFork : seen.nextEpoch
    guard seen.isQueued, seen.hasFork == holdingFork, cplatform_word_replace(word, seen.bits, next.bits) else {
      return nil
    }
    return next.epoch
  }

  /// Whether the ticket has nothing to do.
  func isVoid(_ ticket: ForkTicket) -> Bool {
    let seen = SlotWord(cplatform_word_load(word))
    return !seen.hasFork || seen.epoch != ticket.epoch
  }
}

/// What a slot holds, in one word: whether a backend has the ticket of the slot (bit 0), a fork or none (bits 1 to 12:
/// its place in the list), the epoch of the slot's ticket (bits 13 to 28), and a number that grows with each fork that
/// is shown here. The number does not come again: a thread that loses its CPU between its look and its compare-exchange
/// takes the fork that it saw, or none.
struct SlotWord: Equatable {
  let bits: UInt

  private static let queued: UInt = 1
  private static let place: UInt = 0x1FFE
  private static let epochs: UInt = 0x1FFF_E000
  private static let firstEpoch: UInt = 0x2000
  private static let firstNumber: UInt = 0x2000_0000

  init(_ bits: UInt) { self.bits = bits }

  var isQueued: Bool { bits & Self.queued != 0 }
  var hasFork: Bool { bits & Self.place != 0 }
  var epoch: UInt { (bits & Self.epochs) / Self.firstEpoch }
  var withoutFork: SlotWord { SlotWord(bits & ~Self.place) }

  /// The fork, in the list to which the slot belongs. Place 0 is the list's own words.
  func fork(of list: ForkList.Memory) -> ForkList.Fork? {
    guard hasFork else { return nil }
    return UnsafeMutableRawPointer(list).assumingMemoryBound(to: cplatform_fork.self) + Int((bits & Self.place) >> 1)
  }

  func showing(_ fork: ForkList.Fork) -> SlotWord {
    let place = (UInt(bitPattern: fork) & UInt(cplatform_forks_bytes - 1)) / UInt(MemoryLayout<cplatform_fork>.size)
    return SlotWord((bits & ~(Self.place | Self.queued)) &+ Self.firstNumber | place << 1 | Self.queued)
  }

  /// No backend has the ticket any more, and the fork stays.
  var withoutQueue: SlotWord { SlotWord(bits & ~Self.queued) }

  /// The slot gets another ticket, which no backend has.
  var nextEpoch: SlotWord { nextEpochWithFork.withoutTicket }

  /// The slot gets another ticket, which a backend is about to get, and keeps its fork.
  var nextEpochWithFork: SlotWord {
    SlotWord(bits & ~Self.epochs | (bits &+ Self.firstEpoch) & Self.epochs)
  }

  /// The ticket has come out of the backend, and takes the fork with it.
  var withoutTicket: SlotWord { SlotWord(bits & ~(Self.place | Self.queued)) }
}
