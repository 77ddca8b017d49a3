import OperationJobs
import Primitives
import Synchronization

/// An operation that runs closures: the first on the thread that starts the operation, further closures at the same
/// time on the backend. The operation finishes when all closures have returned.
/// ```swift
/// import Operations
///
/// let page = BlockOperation { print("load the text") }
/// page.addExecutionBlock { print("load the pictures, at the same time") }
/// let show = BlockOperation { print("show the page") }
/// show.addDependency(page)
/// OperationQueue().addOperations([show, page], waitUntilFinished: true)
/// ```
/// An operation of several others takes them when it is made: `BlockOperation(dependencies: [text, pictures]) { … }`.
///
/// `BlockOperation(block:)` takes the memory of an operation that has ended, and allocates where there is none. The
/// closure has an allocation of its own where it captures something.
open class BlockOperation: Operation, @unchecked Sendable {
  // Sendable: `firstBlock` is written by the thread that makes the operation. Later `firstBlock` is touched by the one
  // thread that starts the operation, or by others under `lock` as `areBlocksHere` says.

  private final var firstBlock: FirstBlock?

  /// Makes an operation without a block: `addExecutionBlock(_:)` adds the first. Without any block the operation
  /// finishes as soon as it starts.
  public override init() {
    super.init()
  }

  /// Makes an operation that runs a closure. Subclasses inherit this initializer, as in Foundation; for
  /// `BlockOperation` itself the compiler chooses the one that may use memory again, with the same meaning.
  /// - Parameter block: released after the block has run.
  @_disfavoredOverload
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    firstBlock = FirstBlock(run: block)
  }

  /// Not for use: an operation that awaits is a `TaskOperation`.
  @available(
    *, unavailable, message: "the body awaits or throws; TaskOperation { … } and queue.addTask { … } take such a body"
  )
  public convenience init(block: @escaping @Sendable () async throws -> Void) { fatalError() }

  /// Makes an operation that runs a closure when others have finished. The operation is what
  /// `init(block:)` and one call of `addDependency(_:)` for each dependency make. Subclasses inherit this initializer.
  /// There it calls `addDependencies(_:)`, and so an overridden `addDependency(_:)`.
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - dependencies: what the operation waits for. The same twice counts once.
  ///   - block: released after the block has run.
  @_disfavoredOverload
  public convenience init<Dependencies: Sequence>(
    name: String? = nil, dependencies: Dependencies = EmptyCollection<Operation>(),
    block: @escaping @Sendable () -> Void
  ) where Dependencies.Element: Operation {
    self.init(block: block)
    if let name { self.name = name }
    addDependencies(dependencies)
  }

  /// - Returns: the operation with one reference. The reference is not counted on its way: one more pair of locked
  ///   instructions for each operation made `external-add` slower.
  @inline(__always)
  private static func make(
    _ state: StateWord, _ level: LevelWord, block: consuming @escaping @Sendable () -> Void
  ) -> Unmanaged<BlockOperation> {
    let operation: Unmanaged<BlockOperation>
    if let spare = UnsafeRawPointer(bitPattern: SpareOperations.take()) {
      operation = .fromOpaque(spare)
    } else {
      // The class has no initializer of its own for this: subclasses in other modules would then inherit none.
      operation = .passRetained(BlockOperation())
      operation._withUnsafeGuaranteedRef { $0.mayBeReused.store(1, ordering: .relaxed) }
    }
    var first: FirstBlock? = FirstBlock(run: consume block)
    operation._withUnsafeGuaranteedRef {
      $0.renew(state, level)
      $0.firstBlock = first.take()
    }
    return operation
  }

  /// An operation for a queue that made the operation itself: enqueued, listed and scheduled from the start. The
  /// operation's one reference is the queue's.
  static func scheduled(at level: Int, block: consuming @escaping @Sendable () -> Void) -> Unmanaged<BlockOperation> {
    make(.initialScheduled, LevelWord.initial.with(level: level), block: consume block)
  }

  /// What `BlockOperation(block:)` calls: not for use in programs.
  public static func _make(block: consuming @escaping @Sendable () -> Void) -> BlockOperation {
    make(.initial, .initial, block: consume block).takeRetainedValue()
  }

  /// Adds a closure to run at the same time as the others. Traps when the operation has started.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    let added = lock.withLock {
      guard areBlocksHere() else { return false }
      if firstBlock == nil {
        firstBlock = FirstBlock(run: block)
      } else {
        extras.moreBlocks.append(StoredBlock(block))
      }
      return true
    }
    if !added { misuse(self, "blocks cannot be added after the operation has started executing or finished") }
  }

  /// The closures still to run, in the order of adding; empty once they have been started.
  open var executionBlocks: [@Sendable () -> Void] {
    let blocks = lock.withLock { areBlocksHere() ? firstCopy + extras.moreBlocks : [] }
    return blocks.map(\.run)
  }

  /// Called under `lock`. Whether the start has not taken the blocks, and will need the lock to take them.
  ///
  /// The mark is set first and the state changed second (without a change of value). A start is a change of the same
  /// word: a start that comes later finds the mark, and therefore takes the lock.
  private final func areBlocksHere() -> Bool {
    mark(ExtrasMark.blocks)
    let now = raise(0)
    return !now.has(StateWord.started) && !now.has(StateWord.finished)
  }

  open override func main() {
    // Most operations have one block and nothing else. The block leaves the operation before the block runs, so that
    // what the block captures goes when the block returns.
    if !hasMark(ExtrasMark.blocks) {
      if let block = firstBlock.take() { block.run() }
      return
    }
    let more = takeMoreBlocks()
    guard let first = firstBlock.take() else {
      if !more.isEmpty { BlockGroup(more, priority: explicitPriority).run(beside: nil) }
      return
    }
    if more.isEmpty {
      first.run()
    } else {
      BlockGroup(more, priority: explicitPriority).run(beside: StoredBlock(first.run))
    }
  }

  private final func takeMoreBlocks() -> [StoredBlock] {
    if !hasMark(ExtrasMark.blocks) { return [] }
    return lock.withLock { exchange(&extras.moreBlocks, with: []) }
  }

  private final var firstCopy: [StoredBlock] {
    switch firstBlock {
    case .some(let block): [StoredBlock(block.run)]
    case .none: []
    }
  }

  /// A cancelled operation never runs its blocks. The blocks are released here, since what they capture may hold the
  /// operation.
  final override func releaseUnrunBlocks() {
    // The blocks behind the lock come first: a thread that still holds the lock may be reading the first block.
    let more = takeMoreBlocks()
    let first = firstBlock.take()
    _ = first
    withExtendedLifetime(more) {}
  }
}

/// Gives `BlockOperation`, and none of its subclasses, an initializer that may use an operation's memory again. An
/// initializer of the class itself always allocates.
public protocol _ReusableOperation {
  /// The class itself: a subclass inherits this type, and so differs from the type.
  associatedtype _Exact
}

extension BlockOperation: _ReusableOperation {
  public typealias _Exact = BlockOperation
}

extension _ReusableOperation where _Exact == Self {
  /// Makes an operation that runs a closure, in memory of a finished operation that nobody knows any more, or in new
  /// memory.
  /// - Parameter block: released after the block has run.
  @inlinable
  public init(block: @escaping @Sendable () -> Void) {
    // `Self` is `BlockOperation`: the class is the only one whose `_Exact` is the class itself.
    self = unsafeBitCast(BlockOperation._make(block: block), to: Self.self)
  }

  /// Makes an operation that runs a closure when others have finished.
  /// ```swift
  /// import Operations
  ///
  /// let text = BlockOperation { print("load the text") }
  /// let pictures = BlockOperation { print("load the pictures") }
  /// let page = BlockOperation(dependencies: [text, pictures]) { print("show the page") }
  /// OperationQueue().addOperations([text, pictures, page], waitUntilFinished: true)
  /// ```
  /// The operation is what `init(block:)` and one call of `addDependency(_:)` for each dependency make, and costs less:
  /// nobody else knows the operation yet, so no lock is taken. O(count).
  ///
  /// An array that is made for the call alone may cost more than the locks. A lazy sequence, such as
  /// `indices.lazy.map { operations[$0] }`, costs no allocation.
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - dependencies: what the operation waits for, read once. The same twice counts once.
  ///   - block: released after the block has run.
  @inlinable
  public init<Dependencies: Sequence>(
    name: String? = nil, dependencies: Dependencies = EmptyCollection<Operation>(),
    block: @escaping @Sendable () -> Void
  ) where Dependencies.Element: Operation {
    let operation = BlockOperation._make(block: block)
    if let name { operation.name = name }
    for dependency in dependencies {
      // Consumed: the reference of the iterator is passed on, and not counted again.
      let reference = Unmanaged<Operation>.passRetained(consume dependency)
      operation.insertWhileNew(reference)
    }
    self = unsafeBitCast(operation, to: Self.self)
  }
}

/// A closure that is run once. The type is not copyable: running a copyable closure that was taken out of a property
/// costs a reference.
private struct FirstBlock: ~Copyable {
  let run: @Sendable () -> Void
}

/// The second and further blocks of one operation. Helpers on the backend and the thread that started the operation
/// claim the blocks one by one. So the blocks finish even when the backend has no thread to spare.
private final class BlockGroup: @unchecked Sendable {
  // Sendable: element i of `blocks` belongs to the thread whose increment of `next` returned i.
  private let blocks: UnsafeMutablePointer<StoredBlock?>
  private let count: Int
  private let priority: Operation.QueuePriority
  private let next = Atomic<Int>(0)
  private let left: Atomic<UInt32>

  init(_ blocks: [StoredBlock], priority: Operation.QueuePriority) {
    self.blocks = .allocate(capacity: blocks.count)
    for (index, block) in blocks.enumerated() { (self.blocks + index).initialize(to: block) }
    self.priority = priority
    count = blocks.count
    left = Atomic(UInt32(blocks.count))
  }

  deinit {
    blocks.deinitialize(count: count)
    blocks.deallocate()
  }

  func run(beside first: StoredBlock?) {
    let backend = LaunchFrame.currentQueue?.backend ?? DrivenBackends.orDefault
    let frame = LaunchFrame.current?.pointee
    let (operation, queue, home) = (frame?.operation ?? 0, frame?.queue ?? 0, frame?.home ?? 0)
    for _ in 0..<count {
      backend.submit(Job(priority: priority) { self.help(operation: operation, queue: queue, home: home) })
    }
    first?.run()
    while runOne() {}
    guard left.load(ordering: .acquiring) > 0 else { return }
    if let backend = DrivenBackends.here {
      ThreadDebts.pay()
      return backend.wait { left.load(ordering: .acquiring) == 0 }
    }
    LaunchFrame.whileBlocked {
      while case let now = left.load(ordering: .acquiring), now > 0 { left.futexWait(while: now) }
    }
  }

  /// Runs a block as part of the operation, on another thread. The operation and its queue outlive the block, because
  /// the starter waits for the block. A helper that comes too late reads neither the operation nor the queue.
  private func help(operation: UInt, queue: UInt, home: UInt32) {
    let outer = LaunchFrame.current
    _ = LaunchFrame.enter(
      LaunchFrame(
        operation: operation, queue: queue, home: home, ownsLink: false, previous: outer,
        depth: (outer?.pointee.depth ?? 0) + 1, entered: true)
    ) { _ = runOne() }
  }

  /// - Returns: false when no block is left to claim.
  private func runOne() -> Bool {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    guard index < count else { return false }
    blocks[index]?.run()
    blocks[index] = nil
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { left.futexWake(.max) }
    return true
  }
}
