import Operations
import Synchronization

/// Lets one operation of each key run at a time, whatever queue it is in. Operations of one key run in the order in
/// which they were given to the exclusion.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func write(_ files: [String], on queue: OperationQueue) {
///   let oneOfAFile = MutualExclusion<String>(backend: queue.backend)
///   for file in files {
///     queue.addTask(conditions: [oneOfAFile.turn(of: file)]) { print("writes \(file)") }
///   }
/// }
/// ```
///
/// A waiting operation holds no place in its queue. An operation that has several keys waits for all of them. Keys that
/// are given in one call, or to one condition, are taken at one instant, so that nobody waits in a circle. Two
/// operations that take the same two keys in two calls each, in opposite orders, may wait for each other: give all keys
/// at once. A waiting operation that is cancelled finishes at once, and those behind it still wait for those before it.
///
/// A key costs memory only while an operation of it is unfinished.
public final class MutualExclusion<Key: Hashable & Sendable>: Sendable {
  private let lines = Mutex<[Key: Turn]>([:])
  private let turns: OperationQueue

  /// - Parameter backend: runs a small operation after each one that the exclusion has ordered.
  public init(backend: some Backend) { turns = OperationQueue(backend: backend) }

  /// Makes an operation wait for all unfinished ones that were ordered before by one of the keys. Called before the
  /// operation is added to a queue. O(keys).
  ///
  /// An operation that is ordered and never added holds up everything behind it.
  public func order(_ operation: Operation, by keys: Key...) { order(operation, by: Set(keys)) }

  /// A condition: the operation has its turn.
  public func turn(of keys: Key...) -> some OperationCondition { TurnCondition(exclusion: self, keys: Set(keys)) }

  /// How many keys have an unfinished operation.
  public var keyCount: Int { lines.withLock { $0.count } }

  private func order(_ operation: Operation, by keys: Set<Key>) {
    let turn = Turn(of: keys, behind: operation, in: self)
    turn.queuePriority = .veryHigh
    let earlier = lines.withLock { lines in keys.compactMap { lines.updateValue(turn, forKey: $0) } }
    // Without the lock: a subclass of a user's, or an observer, may run here.
    for earlier in earlier {
      // The operation may have a key already.
      if earlier.behind != ObjectIdentifier(operation) { operation.addDependency(earlier) }
      turn.addDependency(earlier)
    }
    turn.addDependency(operation)
    turns.addOperation(turn)
  }

  /// Finishes when its operation has finished and everything that was in line before. It is never cancelled.
  private final class Turn: Operation, @unchecked Sendable {
    // Sendable: nothing changes.

    private let keys: Set<Key>
    private let exclusion: MutualExclusion
    /// The operation whose turn it is. While the turn is in line it holds the operation, so that no other one has the
    /// number.
    let behind: ObjectIdentifier

    init(of keys: Set<Key>, behind operation: Operation, in exclusion: MutualExclusion) {
      self.keys = keys
      behind = ObjectIdentifier(operation)
      self.exclusion = exclusion
      super.init()
    }

    override func main() {
      exclusion.lines.withLock { lines in
        for key in keys where lines[key] === self { lines[key] = nil }
      }
    }
  }

  private struct TurnCondition: OperationCondition {
    let exclusion: MutualExclusion
    let keys: Set<Key>

    func prepare(_ operation: Operation) { exclusion.order(operation, by: keys) }
    func evaluate() async throws {}
  }
}
