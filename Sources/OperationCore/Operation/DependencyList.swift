/// The dependencies of an operation in the order of adding, each once: adding and removing are O(1) on average.
struct DependencyList {
  struct Entry {
    let operation: Operation
    /// Whether an edge to it was pushed onto its stack of dependents.
    var isLinked: Bool
  }

  /// Removed ones leave a hole; holes are squeezed out when they are more than half.
  private var entries: [Entry?] = []
  private var holes = 0
  /// Position by identity, from the ninth entry on; below that a search is quicker.
  private var index: [ObjectIdentifier: Int] = [:]
  private static let searchLimit = 8

  var count: Int { entries.count - holes }
  var operations: [Operation] { entries.compactMap { $0?.operation } }

  func position(of operation: Operation) -> Int? {
    if entries.count <= Self.searchLimit { return entries.firstIndex { $0?.operation === operation } }
    return index[ObjectIdentifier(operation)]
  }

  func entry(at position: Int) -> Entry? { entries[position] }

  mutating func append(_ operation: Operation, isLinked: Bool) {
    entries.append(Entry(operation: operation, isLinked: isLinked))
    if entries.count == Self.searchLimit + 1 {
      reindex()
    } else if entries.count > Self.searchLimit {
      index[ObjectIdentifier(operation)] = entries.count - 1
    }
  }

  mutating func remove(at position: Int) -> Entry? {
    guard let entry = entries[position] else { return nil }
    entries[position] = nil
    holes += 1
    index[ObjectIdentifier(entry.operation)] = nil
    if holes * 2 > entries.count {
      entries.removeAll { $0 == nil }
      holes = 0
      reindex()
    }
    return entry
  }

  /// Calls `link` for each entry that is not linked yet; it says whether it is now.
  mutating func linkAll(_ link: (Operation) -> Bool) {
    for position in entries.indices {
      guard let entry = entries[position], !entry.isLinked else { continue }
      if link(entry.operation) { entries[position]?.isLinked = true }
    }
  }

  /// The first operation that satisfies the condition.
  func first(where condition: (Operation) -> Bool) -> Operation? {
    for entry in entries {
      if let entry, condition(entry.operation) { return entry.operation }
    }
    return nil
  }

  var unlinkedCount: Int { entries.reduce(0) { $0 + ($1.map { $0.isLinked ? 0 : 1 } ?? 0) } }

  private mutating func reindex() {
    index.removeAll(keepingCapacity: true)
    guard entries.count > Self.searchLimit else { return }
    for (position, entry) in entries.enumerated() {
      if let entry { index[ObjectIdentifier(entry.operation)] = position }
    }
  }
}
