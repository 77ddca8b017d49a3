import CPlatform

/// Chunks of dependency lists, kept to be used again. At most 1 MB is kept, and 8 KB per thread until that ends.
enum SpareChunks: SpareKind {
  static let depot = SpareDepot()

  static func local(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> UnsafeMutablePointer<cplatform_magazines>
  {
    cplatform_spare_chunks(words)
  }

  @inline(__always)
  static func giveBack(_ word: UInt) { Spares<SpareChunks>.giveBack(word) }

  /// The memory of a chunk, or 0.
  @inline(__always)
  static func take() -> UInt { Spares<SpareChunks>.take() }

  @inline(__always)
  private static func chunk(_ word: UInt) -> UnsafeMutablePointer<DependencyChunk> {
    UnsafeMutablePointer(bitPattern: word).unsafelyUnwrapped
  }

  @inline(__always)
  static func next(of word: UInt) -> UInt { chunk(word).pointee.following }

  @inline(__always)
  static func setNext(of word: UInt, to next: UInt) { chunk(word).pointee.following = next }

  static func nextMagazine(of word: UInt) -> UInt { chunk(word).pointee.last }

  static func setNextMagazine(of word: UInt, to next: UInt) { chunk(word).pointee.last = next }

  static func free(_ word: UInt) { chunk(word).deallocate() }
}
