import Scheduling

/// How many threads a pool has and what they do, in one word, and the decisions that follow from the word: pure
/// functions.
///
/// A thread is searching, sleeping, blocked, or working (the rest of `live`). See `README.md` here.
struct SleepWord: Equatable {
  var bits: UInt64

  static let oneSearching: UInt64 = 1
  static let oneSleeping: UInt64 = 1 << 16
  static let oneBlocked: UInt64 = 1 << 32
  static let oneLive: UInt64 = 1 << 48

  var searching: Int { Int(bits & 0xFFFF) }
  var sleeping: Int { Int(bits >> 16 & 0xFFFF) }
  var blocked: Int { Int(bits >> 32 & 0xFFFF) }
  var live: Int { Int(bits >> 48) }

  /// Threads that use, or are about to use, a CPU.
  var active: Int { live - sleeping - blocked }

  /// Whether one thread does not sleep: nobody but that thread adds jobs to deques.
  var isOnlyOneAwake: Bool { live - sleeping == 1 }

  /// What a new job calls for.
  /// - Parameter wanted: how many searching threads are enough.
  @inline(__always)
  func reaction(limit: Int, wanted: Int = 1) -> Reaction {
    Reaction(searching: searching, active: active, limit: limit, wanted: wanted)
  }

  /// Whether a thread that ran out of work may search. One thread always may.
  func maySearch(_ searchers: StealingStrategy.Searchers = .half, workerCount: Int, adapted: Int = 1) -> Bool {
    searchers.allows(searching: searching, workers: workerCount, adapted: adapted)
  }

  /// Whether a thread about to sleep is more than the pool needs.
  func hasSurplus(workerCount: Int) -> Bool { live - blocked > workerCount }
}
