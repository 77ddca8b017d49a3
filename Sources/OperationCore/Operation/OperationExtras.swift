/// What few operations have, kept out of all the others: made when first needed, in memory of its own, guarded by the
/// operation's lock.
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
  /// Under `lock`. A pointer and no object: reading a field takes neither a reference nor a check of exclusive access.
  final var extrasIfAny: UnsafeMutablePointer<OperationExtras>? {
    UnsafeMutablePointer(bitPattern: extrasWord.load(ordering: .acquiring))
  }

  /// Under `lock`.
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

  /// From `deinit`.
  final func releaseExtras() {
    guard let extras = extrasIfAny else { return }
    extras.deinitialize(count: 1)
    SpareChunks.giveBack(UInt(bitPattern: extras))
  }
}
