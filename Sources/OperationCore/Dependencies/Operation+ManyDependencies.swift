import Primitives
import Synchronization

// Several dependencies in one call: one visit to the lock, or none for an operation that nobody else knows.

extension Operation {
  /// Makes this operation wait for each of `operations`, as one call of `addDependency(_:)` for each does.
  /// ```swift
  /// import Operations
  ///
  /// let pages = (1...3).map { number in BlockOperation { print("load page \(number)") } }
  /// let book = BlockOperation { print("bind the book") }
  /// book.addDependencies(pages)
  /// OperationQueue().addOperations(pages + [book], waitUntilFinished: true)
  /// ```
  /// The call takes the operation's lock once. Where somebody may see each step, the call makes the single calls: a
  /// class overrides `addDependency(_:)` or `isReady`, the operation is observed, or a queue has the operation.
  /// `BlockOperation(dependencies:block:)` takes no lock.
  ///
  /// The sequence is read once, and before the first dependency is added. A sequence that is no array is copied.
  /// Traps when one of the dependencies is the operation itself. O(count).
  ///
  /// Foundation has no method of this name. Many programs have an extension of the same name that takes an array.
  /// There the program's own method is called. The method is generic, so that a subclass may declare one that takes an
  /// array.
  @inlinable
  public final func addDependencies<Dependencies: Sequence>(_ operations: Dependencies)
  where Dependencies.Element: Operation {
    let isDone: Void? = operations.withContiguousStorageIfAvailable { insertDependencies(UnsafeRawBufferPointer($0)) }
    if isDone == nil {
      ContiguousArray(operations).withUnsafeBytes { insertDependencies($0) }
    }
  }

  /// - Parameter operations: references that the caller holds.
  @usableFromInline
  final func insertDependencies(_ operations: UnsafeRawBufferPointer) {
    operations.withMemoryRebound(to: Unmanaged<Operation>.self) { operations in
      if !overridesAddDependency, !overridesIsReady, insertBeforeListing(operations) {
        if _slowPath(levelNow.floor > 0) {
          for operation in operations { operation._withUnsafeGuaranteedRef { lendFloor(to: $0) } }
        }
        return
      }
      for operation in operations { operation._withUnsafeGuaranteedRef { addDependency($0) } }
    }
  }

  /// Adds all dependencies, if that tells nobody and links no edge.
  /// - Returns: false when nothing was added.
  private final func insertBeforeListing(_ operations: UnsafeBufferPointer<Unmanaged<Operation>>) -> Bool {
    if operations.isEmpty { return true }
    // The single calls trap.
    for operation in operations where UInt(bitPattern: operation.toOpaque()) == word { return false }
    return lock.withLock {
      let now = stateNow
      if now.has(StateWord.observed) { return false }
      // As in `insertDependency`: first the flags, then the look at `listed`. One look is enough for all: a thread that
      // lists the operation later sees the flags, and waits for the lock.
      let before =
        now.has(StateWord.hasDependencies) ? now : raise(StateWord.hasEpilogue | StateWord.hasDependencies)
      if before.has(StateWord.finished) || before.has(StateWord.edgesRemoved) || stateNow.has(StateWord.listed) {
        return false
      }
      for operation in operations { operation._withUnsafeGuaranteedRef { appendUnlessListed($0) } }
      return true
    }
  }

  /// Adds a dependency of a plain operation that only the calling thread knows. Nothing here is a read-modify-write of
  /// this operation's words, but for a dependency whose class overrides `isFinished`.
  /// - Parameter dependency: a reference that becomes the list's. A reference that is passed as a strong one would be
  ///   counted twice more on its way.
  @usableFromInline
  final func insertWhileNew(_ dependency: Unmanaged<Operation>) {
    assert(isPlain && !stateNow.has(StateWord.enqueued), "an operation that others may know is taken for a new one")
    if !appendWhileNew(UInt(bitPattern: dependency.toOpaque())) { dependency.release() }
  }
}
