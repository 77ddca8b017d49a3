import Synchronization

/// The slots that chunks may still take, in one session. A thread that still records for an earlier session gets none
/// of them.
struct TraceRoom: ~Copyable, Sendable {
  /// The low bits of the session's number, above the number of slots. Both are in one word, so that no thread takes
  /// slots of another session. To be mistaken, a thread would have to sleep here through 2^24 recordings.
  private let word: Atomic<UInt64>
  private static let slotBits: UInt64 = 40
  private static let slotMask: UInt64 = 1 << slotBits - 1

  init(slots: Int, for session: UInt) { word = Atomic(Self.word(slots, session)) }

  private static func word(_ slots: Int, _ session: UInt) -> UInt64 {
    UInt64(session) << slotBits | min(UInt64(slots), slotMask)
  }

  /// A later session begins.
  func fill(slots: Int, for session: UInt) { word.store(Self.word(slots, session), ordering: .relaxed) }

  /// - Returns: how many slots the caller may make; 0 when the limit is reached, or the session is over.
  func take(atMost wanted: Int, for session: UInt) -> Int {
    var seen = word.load(ordering: .relaxed)
    while seen & ~Self.slotMask == UInt64(session) << Self.slotBits {
      let taken = min(Int(seen & Self.slotMask), wanted)
      guard taken > 0 else { return 0 }
      let result = word.compareExchange(expected: seen, desired: seen - UInt64(taken), ordering: .relaxed)
      if result.exchanged { return taken }
      seen = result.original
    }
    return 0
  }
}
