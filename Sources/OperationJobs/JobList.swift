import Primitives

/// Jobs that became ready together, in order, linked through themselves: building a list and taking it apart
/// allocates nothing.
public struct JobList: ~Copyable, @unchecked Sendable {
  // Sendable: a list has one owner, and its nodes belong to it.
  package var fifo = JobFIFO()

  package init() {}

  package init(_ fifo: consuming JobFIFO) { self.fifo = fifo }

  /// How many jobs the list holds; O(1).
  public var count: Int { fifo.count }
  /// Whether the list holds no job.
  public var isEmpty: Bool { fifo.isEmpty }

  /// Takes the first job; O(1).
  public mutating func popFirst() -> Job? {
    let word = fifo.popFirst()
    return word == 0 ? nil : Job(word: word)
  }

  /// The jobs' words, for a backend that keeps its own lists.
  package consuming func takeAll() -> JobFIFO { fifo }
}
