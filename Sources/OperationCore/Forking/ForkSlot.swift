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

  /// Called by the thread that has called `show`, when no backend took the ticket.
  /// - Returns: whether somebody has taken the fork all the same: a waiter of the scope.
  func withdraw(_ fork: ForkList.Fork) -> Bool {
    let isTaken = take { $0 == fork } == nil
    cplatform_word_store(word, now.withoutTicket.bits)
    return isTaken
  }

  /// Takes the fork, when it is of the scope.
  func take(of scope: UInt64) -> ForkList.Fork? {
    take { _ in cplatform_scope_load_relaxed(self.scope) == scope }
  }

  /// Takes the fork that the closure accepts.
  func take(if accepts: (ForkList.Fork) -> Bool) -> ForkList.Fork? {
    let seen = now
    guard let fork = seen.fork, accepts(fork), cplatform_word_replace(word, seen.bits, seen.withoutFork.bits) else {
      return nil
    }
    return fork
  }

  /// Called by the thread to which a backend gave the ticket: takes the fork, if there is one by now.
  func takeWithTicket() -> ForkList.Fork? {
    var seen = SlotWord(cplatform_word_load(word))
    while !cplatform_word_replace(word, seen.bits, seen.withoutTicket.bits) {
      seen = SlotWord(cplatform_word_load(word))
    }
    return seen.fork
  }

  /// Whether no fork is there; not from before the call.
  var isEmpty: Bool { SlotWord(cplatform_word_load(word)).fork == nil }
}

/// What a slot holds, in one word: a fork or none, whether a backend has the ticket of the slot, and a number that tells the
/// forks apart that were shown here one after the other.
struct SlotWord {
  let bits: UInt

  private static let queued: UInt = 1
  private static let numbers: UInt = 0b11_1110
  private static let oneNumber: UInt = 0b10

  init(_ bits: UInt) { self.bits = bits }

  var fork: ForkList.Fork? { ForkList.Fork(bitPattern: bits & ~(Self.queued | Self.numbers)) }
  var isQueued: Bool { bits & Self.queued != 0 }
  var withoutFork: SlotWord { SlotWord(bits & (Self.queued | Self.numbers)) }

  func showing(_ fork: ForkList.Fork) -> SlotWord {
    SlotWord(UInt(bitPattern: fork) | (bits &+ Self.oneNumber) & Self.numbers | Self.queued)
  }

  /// The ticket has come out of the backend, and takes the fork with it.
  var withoutTicket: SlotWord { SlotWord(bits & Self.numbers) }
}
