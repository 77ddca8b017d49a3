/// What only few operations have, kept out of all the others. The side object is made when it is first needed, in
/// memory of its own. The operation's lock guards the side object. An operation that has nothing of this except a
/// completion block has no side object: see `ExtrasMark.completionAlone`.
struct OperationExtras {
  var name: String?
  var threadPriority = 0.5
  var completionBlock = CompletionBlock.none
  /// The second and further execution blocks of a `BlockOperation`.
  var moreBlocks: [StoredBlock] = []
  /// Which `MovedEntry` is the current one.
  var moveGeneration: UInt32 = 0
  /// The message about an operation that posts while it is asked has been printed.
  var saidPostsWhileAsked = false
  var observers = ObserverList()
  /// The unfinished dependencies of an operation in no queue by their words, each with its observation, while the
  /// finishes are watched. Nil: the observation is being made.
  var readinessWatches: [UInt: OperationObservation?] = [:]
}

/// Low bits of `Operation.extrasWord`, beside the address. Each but `completionAlone` is set under `lock` and never
/// taken back: a start that does not see one takes no lock for what it stands for.
enum ExtrasMark {
  static let threadPriority: UInt = 1
  /// Somebody looked at the blocks of a `BlockOperation`, or added one.
  static let blocks: UInt = 2
  /// The word points to the `CompletionBlock` and to no side object. This mark alone is set and
  /// taken back without the lock, and has no other mark beside it. The thread that takes the mark back owns the block:
  /// `README.md` here says which threads do.
  static let completionAlone: UInt = 4
  static let all: UInt = 15

  /// Takes the block out of its memory, and gives the memory back.
  /// - Parameter word: a word with `completionAlone` that no operation has any more.
  @inline(__always)
  static func takeCompletion(_ word: UInt) -> CompletionBlock {
    let place = UnsafeMutablePointer<CompletionBlock>(bitPattern: word & ~all).unsafelyUnwrapped
    let block = place.move()
    SpareChunks.giveBack(UInt(bitPattern: place))
    return block
  }
}

extension Operation {
  @inline(__always)
  final func hasMark(_ mark: UInt) -> Bool { extrasWord.load(ordering: .acquiring) & mark != 0 }

  /// Used under `lock`. Makes the side object if there is none.
  final func mark(_ mark: UInt) {
    _ = extrasPlace
    extrasWord.store(extrasWord.load(ordering: .relaxed) | mark, ordering: .releasing)
  }

  /// Used under `lock`. The property is a pointer and no object, because reading a field through a pointer takes
  /// neither a reference nor a check of exclusive access. A completion block that stands alone gets a side object.
  final var extrasIfAny: UnsafeMutablePointer<OperationExtras>? {
    let word = extrasWord.load(ordering: .acquiring)
    if word & ExtrasMark.completionAlone != 0 { return extrasAroundCompletion() }
    return UnsafeMutablePointer(bitPattern: word & ~ExtrasMark.all)
  }

  /// Makes a side object in the memory of a completion block that stands alone. Nil when the epilogue has taken the
  /// block meanwhile.
  @inline(never)
  private final func extrasAroundCompletion() -> UnsafeMutablePointer<OperationExtras>? {
    var word = extrasWord.load(ordering: .acquiring)
    while word & ExtrasMark.completionAlone != 0 {
      let address = word & ~ExtrasMark.all
      if replaceExtras(word, with: address) {
        // The word names the side object before the object is there. Others look at the object under the lock alone.
        let block = UnsafeMutablePointer<CompletionBlock>(bitPattern: address).unsafelyUnwrapped.move()
        let extras = UnsafeMutablePointer<OperationExtras>(bitPattern: address).unsafelyUnwrapped
        extras.initialize(to: OperationExtras(completionBlock: block))
        return extras
      }
      word = extrasWord.load(ordering: .acquiring)
    }
    return UnsafeMutablePointer(bitPattern: word & ~ExtrasMark.all)
  }

  /// Compare-exchanges the word.
  @inline(__always)
  final func replaceExtras(_ old: UInt, with new: UInt) -> Bool {
    extrasWord.compareExchange(
      expected: old, desired: new, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed
    ).exchanged
  }

  /// The side object, made if there is none. Used under `lock`.
  final var extras: OperationExtras {
    _read { yield extrasPlace.pointee }
    _modify { yield &extrasPlace.pointee }
  }

  /// The side object's place; the object is made if there is none. Used under `lock`.
  final var extrasPlace: UnsafeMutablePointer<OperationExtras> {
    if let extras = extrasIfAny { return extras }
    let extras = SpareChunks.take().assumingMemoryBound(to: OperationExtras.self)
    extras.initialize(to: OperationExtras())
    while !replaceExtras(0, with: UInt(bitPattern: extras)) {
      // A completion block was set without the lock, and may be taken without the lock, too.
      guard let other = extrasAroundCompletion() else { continue }
      free(extras)
      return other
    }
    return extras
  }

  /// Gives back a side object that no operation points to any more.
  private final func free(_ extras: UnsafeMutablePointer<OperationExtras>) {
    extras.deinitialize(count: 1)
    SpareChunks.giveBack(UInt(bitPattern: extras))
  }

  /// Called from `deinit`.
  final func releaseExtras() {
    let word = extrasWord.load(ordering: .acquiring)
    if word & ExtrasMark.completionAlone != 0 {
      _ = ExtrasMark.takeCompletion(word)
    } else if let extras = UnsafeMutablePointer<OperationExtras>(bitPattern: word & ~ExtrasMark.all) {
      free(extras)
    }
  }
}
