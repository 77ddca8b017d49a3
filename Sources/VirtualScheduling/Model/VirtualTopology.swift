/// Where the workers of a pool are: in groups of CPUs that are near each other, and in sockets.
///
/// Worker `i` belongs to the group `i / workersPerGroup`, and to the socket `i / workersPerSocket`.
package struct VirtualTopology: Hashable, Sendable {
  /// How far two workers are from each other.
  package enum Distance: Hashable, Sendable { case none, sameGroup, otherGroup, otherSocket }

  /// How many workers a group of CPUs has, 1 or more.
  package let workersPerGroup: Int
  /// How many workers a socket has: a multiple of `workersPerGroup`.
  package let workersPerSocket: Int

  /// Traps when the numbers do not fit each other.
  package init(workersPerGroup: Int, workersPerSocket: Int) {
    precondition(
      workersPerGroup > 0 && workersPerSocket >= workersPerGroup && workersPerSocket % workersPerGroup == 0,
      "a socket has whole groups of CPUs: \(workersPerSocket) is not a multiple of \(workersPerGroup)")
    self.workersPerGroup = workersPerGroup
    self.workersPerSocket = workersPerSocket
  }

  /// All workers are equally near.
  package static let flat = VirtualTopology(workersPerGroup: 1 << 32, workersPerSocket: 1 << 32)

  /// The workers that are as near to a worker as possible, of `count`: those of its group, and those of its socket.
  package func neighbours(of worker: Int, count: Int) -> (group: Range<Int>, socket: Range<Int>) {
    func share(_ size: Int) -> Range<Int> {
      let start = worker / size * size
      return start..<max(start, min(count, start + size))
    }
    return (share(workersPerGroup), share(workersPerSocket))
  }

  /// How far two workers are from each other; O(1).
  package func distance(_ first: Int, _ second: Int) -> Distance {
    if first == second { return .none }
    if first / workersPerGroup == second / workersPerGroup { return .sameGroup }
    return first / workersPerSocket == second / workersPerSocket ? .otherGroup : .otherSocket
  }
}
