import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// Finished block operations, kept to be used again: `README.md` here says when.
///
/// Only an operation that nobody can know any more is kept. Whoever gives the operation here has its one reference,
/// and no weak or unowned reference exists: the object's reference counts are those of a new object. The operation's
/// state is that of an ordinary end. The operation has no side object, dependency or dependents. The closure left the
/// operation before the closure ran. At most 1 MB is kept, and 8 KB per thread until the thread ends.
enum SpareOperations: SpareKind {
  static let depot = SpareDepot()

  static func local(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> UnsafeMutablePointer<cplatform_magazines>
  {
    cplatform_spare_operations(words)
  }

  /// The reference counts of an object that nobody else knows, as they stand in the object's second word. The value
  /// is read from a new object: if the layout is another one, nothing is kept, and nothing worse happens.
  private static let unshared: UInt64 = {
    let object = Unmanaged.passRetained(BlockOperation())
    defer { object.release() }
    return referenceCounts(UInt(bitPattern: object.toOpaque()))
  }()

  @inline(__always)
  private static func referenceCounts(_ word: UInt) -> UInt64 {
    UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: word &+ UInt(MemoryLayout<UInt>.size)).unsafelyUnwrapped.pointee
      .load(ordering: .acquiring)
  }

  /// Gives back the reference that the word stands for, or keeps the operation when it may be used again.
  static func giveBack(_ word: UInt) {
    // Looked up once for each thread: a lazy global is a call for each use.
    let words = cplatform_thread_words_address()
    if _slowPath(words.pointee.unshared_counts == 0) { words.pointee.unshared_counts = unshared }
    guard referenceCounts(word) == words.pointee.unshared_counts,
      Operation.unmanaged(word)._withUnsafeGuaranteedRef({ $0.isAsNew })
    else { return JobObject.object(word).release() }
    Spares<SpareOperations>.giveBack(word)
  }

  /// A kept operation, with its reference, or 0. The caller makes the operation new.
  @inline(__always)
  static func take() -> UInt {
    let word = Spares<SpareOperations>.take()
    assert(
      word == 0
        || referenceCounts(word) == unshared && Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.isAsNew },
      "an operation is used again that somebody knows, or that did not end in the ordinary way")
    return word
  }

  @inline(__always)
  static func next(of word: UInt) -> UInt { JobNode.next(of: word) }

  @inline(__always)
  static func setNext(of word: UInt, to next: UInt) { JobNode.setNext(of: word, to: next) }

  static func nextMagazine(of word: UInt) -> UInt {
    Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.slotWord.load(ordering: .relaxed) }
  }

  static func setNextMagazine(of word: UInt, to next: UInt) {
    Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.slotWord.store(next, ordering: .relaxed) }
  }

  static func free(_ word: UInt) { JobObject.object(word).release() }
}

extension Operation {
  /// Whether the operation ended without anything out of the ordinary. If so, a few stores make the operation new.
  fileprivate final var isAsNew: Bool {
    stateNow.isPlainEnd && extrasWord.load(ordering: .relaxed) == 0 && dependencyWord.load(ordering: .relaxed) == 0
      && dependents.load(ordering: .relaxed) <= EdgeWord.sealed && queueWord.load(ordering: .relaxed) == 0
  }
}

/// Called by C when a thread ends.
@_documentation(visibility: internal)
@c(operations_free_spares)
public func operationsFreeSpares(_ words: UnsafeMutablePointer<cplatform_thread_words>) {
  // Freeing an operation may give chunks back: chunks are freed last.
  Spares<SpareOperations>.freeOwn(words)
  Spares<SpareChunks>.freeOwn(words)
}
