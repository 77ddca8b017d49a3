/// What few operations have, kept out of all the others: made when first needed, guarded by the operation's lock.
final class OperationExtras {
  var name: String?
  var threadPriority = 0.5
  var completionBlock: (@Sendable () -> Void)?
  /// Dependencies when there was ever more than one.
  var dependencies = DependencyList()
  /// Edges of those, in memory that lives as long as the operation.
  var edgeBuffers: [UnsafeMutablePointer<Edge>] = []
  /// Removed dependencies whose edge is still linked there: when it fires, it does not count.
  var removed: Set<UInt> = []
  /// The second and further execution blocks of a `BlockOperation`.
  var moreBlocks: [@Sendable () -> Void] = []
  /// Which `MovedEntry` is the current one.
  var moveGeneration: UInt32 = 0
  var observers = ObserverList()
  /// Observations of dependencies, while the readiness of an operation in no queue is observed.
  var readinessWatches: [OperationObservation] = []

  deinit {
    for buffer in edgeBuffers { buffer.deallocate() }
  }
}

extension Operation {
  /// Under `lock`.
  final var extrasIfAny: OperationExtras? {
    let word = extrasWord.load(ordering: .acquiring)
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged<OperationExtras>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Under `lock`.
  final var extras: OperationExtras {
    if let extras = extrasIfAny { return extras }
    let extras = OperationExtras()
    extrasWord.store(UInt(bitPattern: Unmanaged.passRetained(extras).toOpaque()), ordering: .releasing)
    return extras
  }
}
