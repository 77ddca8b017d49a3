/// The neighbours of each task of a graph in one piece of memory. Reading the neighbours counts no references, so that
/// a graph's run consists only of what its subject does.
final class Adjacency: @unchecked Sendable {
  // Sendable: the memory behind the pointers does not change after `init`.
  private let starts: UnsafeMutablePointer<Int>
  private let neighbours: UnsafeMutablePointer<Int>
  let count: Int

  init(_ lists: [[Int]]) {
    count = lists.count
    starts = .allocate(capacity: count + 1)
    neighbours = .allocate(capacity: lists.reduce(0) { $0 + $1.count })
    var end = 0
    for (task, list) in lists.enumerated() {
      (starts + task).initialize(to: end)
      for neighbour in list {
        (neighbours + end).initialize(to: neighbour)
        end += 1
      }
    }
    (starts + count).initialize(to: end)
  }

  deinit {
    starts.deallocate()
    neighbours.deallocate()
  }

  /// The neighbours of a task. The buffer is valid as long as this object lives.
  @inline(__always)
  subscript(task: Int) -> UnsafeBufferPointer<Int> {
    UnsafeBufferPointer(start: neighbours + starts[task], count: starts[task + 1] - starts[task])
  }
}
