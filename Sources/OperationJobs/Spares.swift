import CPlatform
import Primitives
import Synchronization

/// One kind of memory that is kept to be used again: see `Spares`.
@usableFromInline
package protocol SpareKind {
  /// Where full magazines wait for other threads.
  static var depot: SpareDepot { get }
  /// The calling thread's magazines.
  static func local(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> UnsafeMutablePointer<cplatform_magazines>
  /// The link to the next piece in a magazine.
  static func next(of word: UInt) -> UInt
  static func setNext(of word: UInt, to next: UInt)
  /// The link to the next magazine in the depot; the link lies in a magazine's first piece.
  static func nextMagazine(of word: UInt) -> UInt
  static func setNextMagazine(of word: UInt, to next: UInt)
  /// Gives one piece back to the system's allocator.
  static func free(_ word: UInt)
}

/// Memory of one kind that was used, kept to be used again.
///
/// Memory that one thread allocates and another frees is dear: the allocator and both threads write the same cache
/// lines for each piece. So the thread that would free a piece keeps the piece, in magazines of 32 (Bonwick's). A
/// thread keeps two magazines. Up to `SpareDepot.limit` magazines lie in a depot behind a lock; a thread visits the
/// depot once for 32 pieces.
///
/// `OPERATIONS_REUSE=off` in the environment turns all of that off, for tools that watch each allocation.
@usableFromInline
package enum Spares<Kind: SpareKind> {
  /// Keeps the piece that the word stands for, or gives it back to the system. Nobody else may know the piece.
  @inlinable
  package static func giveBack(_ word: UInt) { if !keep(word) { Kind.free(word) } }

  /// Keeps the piece, or leaves it to the caller. Nobody else may know the piece.
  /// - Returns: false when nothing is kept: the piece is still the caller's.
  @inlinable
  package static func keep(_ word: UInt) -> Bool {
    let words = cplatform_thread_words_address()
    if !words.pointee.returns_spares, !beginKeeping(words) { return false }
    let magazines = Kind.local(words)
    if magazines.pointee.count == SpareDepot.magazineSize { makeRoom(magazines) }
    Kind.setNext(of: word, to: magazines.pointee.loaded)
    magazines.pointee.loaded = word
    magazines.pointee.count += 1
    return true
  }

  /// A kept piece, or 0.
  @inlinable @inline(__always)
  package static func take() -> UInt {
    let words = cplatform_thread_words_address()
    let magazines = Kind.local(words)
    if magazines.pointee.count == 0, !refill(magazines, words) { return 0 }
    let word = magazines.pointee.loaded
    let next = Kind.next(of: word)
    magazines.pointee.loaded = next
    magazines.pointee.count -= 1
    // Another thread has mostly written the next piece. This thread does not wait for that when it takes the piece.
    cplatform_prefetch(next)
    cplatform_prefetch(next &+ 64)
    return word
  }

  /// The thread's first magazine is full.
  @inlinable @inline(never)
  static func makeRoom(_ magazines: UnsafeMutablePointer<cplatform_magazines>) {
    if magazines.pointee.full != 0, !Kind.depot.keep(magazines.pointee.full, Kind.self) {
      free(chain: magazines.pointee.full)
    }
    magazines.pointee.full = magazines.pointee.loaded
    magazines.pointee.loaded = 0
    magazines.pointee.count = 0
  }

  /// The thread's first magazine is empty.
  @inlinable @inline(never)
  static func refill(
    _ magazines: UnsafeMutablePointer<cplatform_magazines>, _ words: UnsafeMutablePointer<cplatform_thread_words>
  ) -> Bool {
    guard words.pointee.returns_spares || beginKeeping(words) else { return false }
    var magazine = magazines.pointee.full
    magazines.pointee.full = 0
    if magazine == 0 { magazine = Kind.depot.fetch(Kind.self) }
    guard magazine != 0 else { return false }
    magazines.pointee.loaded = magazine
    magazines.pointee.count = SpareDepot.magazineSize
    return true
  }

  /// A thread ends: the pieces that it kept are freed.
  @inlinable
  package static func freeOwn(_ words: UnsafeMutablePointer<cplatform_thread_words>) {
    let magazines = Kind.local(words)
    free(chain: magazines.pointee.loaded)
    free(chain: magazines.pointee.full)
    magazines.pointee = cplatform_magazines()
  }

  @inlinable
  static func free(chain first: UInt) {
    var word = first
    while word != 0 {
      let following = Kind.next(of: word)
      Kind.free(word)
      word = following
    }
  }
}

/// Called before a thread keeps its first piece of any kind.
///
/// - Returns: false when nothing is kept in this process, or by this thread. The question is then asked again for the
///   next piece, so that a thread that keeps memory never asks.
@usableFromInline @inline(never)
func beginKeeping(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> Bool {
  cplatform_reuses_memory() && returnSparesAtEnd(words)
}

/// Has the thread give back what it keeps when it ends.
/// - Returns: false when the system has no place to note that: the thread must keep nothing.
@inline(never)
private func returnSparesAtEnd(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> Bool {
  words.pointee.returns_spares = cplatform_at_thread_exit(cplatform_spares_owner) {
    let words = cplatform_thread_words_address()
    cplatform_free_spares(words)
    // Other code that runs when the thread ends may still run an operation here.
    words.pointee.returns_spares = false
  }
  return words.pointee.returns_spares
}

/// Full magazines of one kind, for all threads.
@usableFromInline
package struct SpareDepot: @unchecked Sendable {
  // Sendable: `full` and `count` are touched under `lock`.

  @inlinable package static var magazineSize: UInt32 { 32 }
  /// The most magazines that a depot keeps.
  @inlinable package static var limit: Int { 256 }

  /// Each field lies in memory of its own: the thread sanitizer takes an access to one field of a variable for an
  /// access to the others.
  @usableFromInline let lock = UnsafeMutablePointer.holding(FutexLock())
  /// The newest magazine, linked to the others.
  @usableFromInline let full = UnsafeMutablePointer.holding(0 as UInt)
  @usableFromInline let count = UnsafeMutablePointer.holding(0)

  package init() {}

  /// - Returns: false when the depot is full.
  @inlinable
  package func keep<Kind: SpareKind>(_ magazine: UInt, _: Kind.Type) -> Bool {
    lock.pointee.withLock {
      guard count.pointee < Self.limit else { return false }
      count.pointee += 1
      Kind.setNextMagazine(of: magazine, to: full.pointee)
      full.pointee = magazine
      return true
    }
  }

  /// - Returns: a full magazine, or 0.
  @inlinable @inline(__always)
  package func fetch<Kind: SpareKind>(_: Kind.Type) -> UInt {
    lock.pointee.withLock {
      let magazine = full.pointee
      guard magazine != 0 else { return 0 }
      count.pointee -= 1
      full.pointee = Kind.nextMagazine(of: magazine)
      return magazine
    }
  }
}
