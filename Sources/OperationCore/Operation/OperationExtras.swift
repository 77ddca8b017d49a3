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
  var observers = ObserverList()
  /// Observations of dependencies, while the readiness of an operation in no queue is observed.
  var readinessWatches: [OperationObservation] = []
}

extension Operation {
  /// Used under `lock`. The property is a pointer and no object, because reading a field through a pointer takes
  /// neither a reference nor a check of exclusive access.
  final var extrasIfAny: UnsafeMutablePointer<OperationExtras>? {
    UnsafeMutablePointer(bitPattern: extrasWord.load(ordering: .acquiring))
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
