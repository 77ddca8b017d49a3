/// What only few operations have, kept out of all the others. The side object is made when it is first needed, in
/// memory of its own. The operation's lock guards the side object.
struct OperationExtras {
  var name: String?
  var threadPriority = 0.5
  var completionBlock: StoredBlock?
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

/// Low bits of `Operation.extrasWord`, beside the address. Each is set under `lock` and never taken back: a start that
/// does not see one takes no lock for what it stands for.
enum ExtrasMark {
  static let threadPriority: UInt = 1
  /// Somebody looked at the blocks of a `BlockOperation`, or added one.
  static let blocks: UInt = 2
  static let all: UInt = 15
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
  /// neither a reference nor a check of exclusive access.
  final var extrasIfAny: UnsafeMutablePointer<OperationExtras>? {
    UnsafeMutablePointer(bitPattern: extrasWord.load(ordering: .acquiring) & ~ExtrasMark.all)
  }

  /// The side object, made if there is none. Used under `lock`.
  final var extras: OperationExtras {
    _read { yield extrasPlace.pointee }
    _modify { yield &extrasPlace.pointee }
  }

  final var extrasPlace: UnsafeMutablePointer<OperationExtras> {
    if let extras = extrasIfAny { return extras }
    let extras = SpareChunks.take().assumingMemoryBound(to: OperationExtras.self)
    extras.initialize(to: OperationExtras())
    extrasWord.store(UInt(bitPattern: extras), ordering: .releasing)
    return extras
  }

  /// Called from `deinit`.
  final func releaseExtras() {
    guard let extras = extrasIfAny else { return }
    extras.deinitialize(count: 1)
    SpareChunks.giveBack(UInt(bitPattern: extras))
  }
}
