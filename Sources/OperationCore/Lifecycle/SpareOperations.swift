import CPlatform
import Primitives
import Synchronization

/// Finished operations that `addOperation(_ block:)` made, kept to be used again.
///
/// Memory that one thread allocates and another frees is what such an operation costs most: allocator and both threads
/// write the same cache lines for each. So the thread that ran one keeps it, in magazines of 32 (Bonwick's): two per thread,
/// and up to `depotLimit` in a depot behind a lock, which is visited once for 32 operations.
///
/// Only an operation that nobody can know any more is kept: its one reference is the queue's, no weak or unowned reference exists
/// (the object's reference counts are those of a new object), its state is that of an ordinary end, and it has no side
/// object, dependency or dependents. Its closure went before it ran. At most 1 MB is kept, and 8 KB per thread until that ends.
enum SpareOperations {
  private static let magazineSize: UInt32 = 32
  private static let depotLimit = 256

  /// Not a part of `Depot`: the sanitizer takes a look at one field of a variable for a look at the others.
  private static let lock = FutexLock()

  private struct Depot: @unchecked Sendable {
    // Sendable: `full` and `count` are touched under `lock`.
    /// Full magazines, linked through the `slotWord` of their first operations.
    let full = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
    let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init() {
      full.initialize(to: 0)
      count.initialize(to: 0)
    }
  }
  private static let depot = Depot()

  /// The reference counts of an object that nobody else knows, as they stand in its second word. Read from a new object, so
  /// that another layout only means that nothing is kept.
  private static let unshared: UInt = {
    let object = Unmanaged.passRetained(BlockOperation())
    defer { object.release() }
    return referenceCounts(UInt(bitPattern: object.toOpaque()))
  }()

  private static func referenceCounts(_ word: UInt) -> UInt {
    UnsafeMutablePointer<Atomic<UInt>>(bitPattern: word + UInt(MemoryLayout<UInt>.size)).unsafelyUnwrapped.pointee
      .load(ordering: .acquiring)
  }

  /// Gives the reference back that the word stands for: keeps the operation when it may be used again.
  static func giveBack(_ word: UInt) {
    guard referenceCounts(word) == unshared,
      Operation.unmanaged(word)._withUnsafeGuaranteedRef({ $0.isAsNew })
    else { return JobObject.unmanaged(word).release() }
    let words = cplatform_thread_words_address()
    if !words.pointee.returns_spares { returnSparesAtEnd(words) }
    if words.pointee.spare_count == magazineSize { makeRoom(words) }
    setNext(of: word, to: words.pointee.spares)
    words.pointee.spares = word
    words.pointee.spare_count += 1
  }

  /// A kept operation, with its reference, or 0. The caller makes it new.
  @inline(__always)
  static func take() -> UInt {
    let words = cplatform_thread_words_address()
    if words.pointee.spare_count == 0, !refill(words) { return 0 }
    let word = words.pointee.spares
    words.pointee.spares = next(of: word)
    words.pointee.spare_count -= 1
    return word
  }

  // MARK: - Magazines

  /// The thread's first magazine is full.
  @inline(never)
  private static func makeRoom(_ words: UnsafeMutablePointer<cplatform_thread_words>) {
    if words.pointee.full_spares != 0 { store(words.pointee.full_spares) }
    words.pointee.full_spares = words.pointee.spares
    words.pointee.spares = 0
    words.pointee.spare_count = 0
  }

  /// The thread's first magazine is empty.
  @inline(never)
  private static func refill(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> Bool {
    var magazine = words.pointee.full_spares
    words.pointee.full_spares = 0
    if magazine == 0 { magazine = fetch() }
    guard magazine != 0 else { return false }
    words.pointee.spares = magazine
    words.pointee.spare_count = magazineSize
    if !words.pointee.returns_spares { returnSparesAtEnd(words) }
    return true
  }

  /// A full magazine goes to the depot, or away.
  private static func store(_ magazine: UInt) {
    let kept = lock.withLock {
      guard depot.count.pointee < depotLimit else { return false }
      depot.count.pointee += 1
      Operation.unmanaged(magazine)._withUnsafeGuaranteedRef {
        $0.slotWord.store(depot.full.pointee, ordering: .relaxed)
      }
      depot.full.pointee = magazine
      return true
    }
    if !kept { release(chain: magazine) }
  }

  private static func fetch() -> UInt {
    lock.withLock {
      let magazine = depot.full.pointee
      guard magazine != 0 else { return 0 }
      depot.count.pointee -= 1
      depot.full.pointee = Operation.unmanaged(magazine)._withUnsafeGuaranteedRef {
        $0.slotWord.load(ordering: .relaxed)
      }
      return magazine
    }
  }

  /// Before a thread keeps its first one.
  @inline(never)
  private static func returnSparesAtEnd(_ words: UnsafeMutablePointer<cplatform_thread_words>) {
    words.pointee.returns_spares = true
    cplatform_at_thread_exit(cplatform_spares_owner) { SpareOperations.releaseOwn() }
  }

  /// A thread ends: what it kept goes.
  private static func releaseOwn() {
    let words = cplatform_thread_words_address()
    release(chain: words.pointee.spares)
    release(chain: words.pointee.full_spares)
    words.pointee.spares = 0
    words.pointee.full_spares = 0
    words.pointee.spare_count = 0
    // Whatever else ends with the thread may still run an operation here.
    words.pointee.returns_spares = false
  }

  private static func release(chain first: UInt) {
    var word = first
    while word != 0 {
      let following = next(of: word)
      JobObject.unmanaged(word).release()
      word = following
    }
  }

  @inline(__always)
  private static func next(of word: UInt) -> UInt { JobNode.next(of: word) }

  @inline(__always)
  private static func setNext(of word: UInt, to next: UInt) { JobNode.setNext(of: word, to: next) }
}

extension Operation {
  /// Whether an operation that a queue made for itself ended without anything out of the ordinary, so that a few stores make
  /// it new.
  fileprivate final var isAsNew: Bool {
    stateNow == .plainEnd && extrasWord.load(ordering: .relaxed) == 0 && soleDependency.load(ordering: .relaxed) == 0
      && dependents.load(ordering: .relaxed) == 0 && queueWord.load(ordering: .relaxed) == 0
  }
}
