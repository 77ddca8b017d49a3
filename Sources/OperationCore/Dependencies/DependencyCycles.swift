/// Operations that wait for one another and can never start, as a batch with validation reports them.
public struct DependencyCycleError: Error, CustomStringConvertible {
  /// One array per cycle (strictly: per strongly connected component), each in no particular order.
  public let cycles: [[Operation]]

  public var description: String {
    let named = cycles.map { cycle in cycle.map(\.description).joined(separator: ", ") }
    return "operations depend on one another: " + named.joined(separator: "; ")
  }
}

extension OperationQueue {
  /// Pending operations of this queue that wait for one another, directly, through operations elsewhere, or through
  /// barriers: one array per strongly connected component of the graph. The members of a cycle stay until a member
  /// that waits for a dependency is cancelled. O(operations + dependencies); Tarjan's algorithm, iterative.
  public final func dependencyCycles() -> [[Operation]] { DependencyGraph.cycles(from: snapshot()) }

  /// Adds all operations in one step, as `addOperations(_:waitUntilFinished:)`, unless some of them depend on one
  /// another in a cycle.
  /// - Throws: `DependencyCycleError`, with the members' names. Nothing has changed in that case.
  @available(*, noasync, message: "may block the thread; use addOperation(_:) and dependencyCycles()")
  public final func addOperations(
    validating operations: [Operation], waitUntilFinished wait: Bool = false
  ) throws(DependencyCycleError) {
    let cycles = DependencyGraph.cycles(from: operations)
    if !cycles.isEmpty { throw DependencyCycleError(cycles: cycles) }
    addOperations(operations, waitUntilFinished: wait)
  }
}

enum DependencyGraph {
  private struct Visit {
    let operation: Operation
    let dependencies: [Operation]
    var nextDependency = 0
  }

  /// Strongly connected components with more than one member among the operations reachable from `roots`. Tarjan,
  /// "Depth-first search and linear graph algorithms", 1972, with an explicit stack.
  static func cycles(from roots: [Operation]) -> [[Operation]] {
    var index: [ObjectIdentifier: Int] = [:]
    var low: [ObjectIdentifier: Int] = [:]
    var open: [Operation] = []
    var isOpen: Set<ObjectIdentifier> = []
    var cycles: [[Operation]] = []
    var path: [Visit] = []
    var barriers = BarrierOrder()

    func begin(_ operation: Operation) {
      let id = ObjectIdentifier(operation)
      low[id] = index.count
      index[id] = index.count
      open.append(operation)
      isOpen.insert(id)
      // A started or cancelled operation waits for nothing, whatever it lists. Overridden properties are not asked,
      // because they may take a lock that one of the operations in the graph holds.
      let now = operation.stateNow
      let waits = !now.has(StateWord.started) && !now.has(StateWord.cancelled)
      var dependencies = waits ? operation.dependencySnapshot().filter { !$0.stateNow.has(StateWord.finished) } : []
      dependencies += barriers.predecessors(of: operation)
      path.append(Visit(operation: operation, dependencies: dependencies))
    }

    for root in roots where index[ObjectIdentifier(root)] == nil {
      begin(root)
      while var visit = path.last {
        let id = ObjectIdentifier(visit.operation)
        if visit.nextDependency < visit.dependencies.count {
          let dependency = visit.dependencies[visit.nextDependency]
          visit.nextDependency += 1
          path[path.count - 1] = visit
          let other = ObjectIdentifier(dependency)
          if let seen = index[other] {
            if isOpen.contains(other) { low[id] = min(low[id] ?? seen, seen) }
          } else {
            begin(dependency)
          }
          continue
        }
        path.removeLast()
        if let parent = path.last {
          let outer = ObjectIdentifier(parent.operation)
          low[outer] = min(low[outer] ?? 0, low[id] ?? 0)
        }
        if low[id] == index[id] {
          var component: [Operation] = []
          repeat {
            component.append(open.removeLast())
            isOpen.remove(ObjectIdentifier(component[component.count - 1]))
          } while component[component.count - 1] !== visit.operation
          if component.count > 1 { cycles.append(component) }
        }
      }
    }
    return cycles
  }
}

/// What barriers add to the graph: a barrier waits for all operations before it, and all operations behind a barrier
/// wait for it.
struct BarrierOrder {
  /// The pending operations of a queue with barriers and the sequence numbers of the barriers, both in the order of
  /// adding.
  private struct Queue {
    var pending: [(sequence: Int, operation: Operation)] = []
    var barriers: [Int] = []

    /// Index of the first barrier whose number is not less than `sequence`. O(log n).
    func barrierIndex(from sequence: Int) -> Int { barriers.firstIndex(inOrder: { $0 >= sequence }) }

    /// The pending operations with these numbers. O(log n + operations found).
    func operations(_ numbers: Range<Int>) -> ArraySlice<(sequence: Int, operation: Operation)> {
      let start = pending.firstIndex(inOrder: { $0.sequence >= numbers.lowerBound })
      let end = pending.firstIndex(inOrder: { $0.sequence >= numbers.upperBound })
      return pending[start..<end]
    }
  }

  private var queues: [UInt: Queue] = [:]

  /// The operations that an operation which has not started waits for because of barriers; also when it was
  /// cancelled. The operations before the previous barrier are left out, because that barrier waits for them.
  /// O(log n + operations found), and O(pending operations) for the first operation of a queue.
  mutating func predecessors(of operation: Operation) -> [Operation] {
    let now = operation.stateNow
    guard now.has(StateWord.tracked), !now.has(StateWord.started), let owner = operation.owner else { return [] }
    let queue = look(at: owner)
    guard !queue.barriers.isEmpty else { return [] }
    let sequence = operation.sequence.load(ordering: .relaxed)
    let index = queue.barrierIndex(from: sequence)
    let previous = index > 0 ? queue.barriers[index - 1] : -1
    let isBarrier = index < queue.barriers.count && queue.barriers[index] == sequence
    return queue.operations(previous..<(isBarrier ? sequence : previous + 1)).map(\.operation)
      .filter { !$0.stateNow.has(StateWord.finished) }
  }

  private mutating func look(at owner: OperationQueue) -> Queue {
    let id = UInt(bitPattern: Unmanaged.passUnretained(owner).toOpaque())
    if let known = queues[id] { return known }
    var queue = Queue()
    queue.barriers = owner.controller.barriers
    if !queue.barriers.isEmpty {
      owner.registry.visitPending { queue.pending.append(($0.sequence.load(ordering: .relaxed), $0)) }
    }
    queues[id] = queue
    return queue
  }
}

extension RandomAccessCollection {
  /// The first index whose element meets `condition`, where no element that meets it comes before one that does not;
  /// `endIndex` when none does. O(log n).
  fileprivate func firstIndex(inOrder condition: (Element) -> Bool) -> Index {
    var (start, count) = (startIndex, count)
    while count > 0 {
      let middle = index(start, offsetBy: count / 2)
      if condition(self[middle]) {
        count /= 2
      } else {
        start = index(after: middle)
        count -= count / 2 + 1
      }
    }
    return start
  }
}
