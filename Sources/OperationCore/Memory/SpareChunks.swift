import CPlatform
import OperationJobs

/// Memory of one size for what operations need beside themselves: chunks of dependency lists, and side objects. The
/// memory is kept to be used again: at most 1 MB, and 8 KB per thread until the thread ends.
enum SpareChunks: SpareKind {
  /// The largest size that the system's allocator frees without a lock, whichever thread allocated it.
  static let byteCount = 120

  static let depot = SpareDepot()

  @inline(__always)
  static func local(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> UnsafeMutablePointer<cplatform_magazines>
  {
    cplatform_spare_chunks(words)
  }

  /// Keeps the memory of a chunk that nobody knows any more.
  @inline(__always)
  static func giveBack(_ word: UInt) { Spares<SpareChunks>.giveBack(word) }

  /// `byteCount` bytes, aligned to 16, of any content.
  @inline(__always)
  static func take() -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: Spares<SpareChunks>.take()) ?? cplatform_allocate(byteCount)
  }

  @inline(__always)
  private static func words(_ word: UInt) -> UnsafeMutablePointer<UInt> {
    UnsafeMutablePointer(bitPattern: word).unsafelyUnwrapped
  }

  @inline(__always)
  static func next(of word: UInt) -> UInt { words(word)[0] }

  @inline(__always)
  static func setNext(of word: UInt, to next: UInt) { words(word)[0] = next }

  static func nextMagazine(of word: UInt) -> UInt { words(word)[1] }

  static func setNextMagazine(of word: UInt, to next: UInt) { words(word)[1] = next }

  static func free(_ word: UInt) { cplatform_free(words(word)) }
}
