/// Counts, for a job that is taken, the queued jobs that should have gone first: those of higher levels, and the older
/// ones of the same level. A Fenwick tree for each level over the numbers of the jobs; each call O(log n) for n jobs so
/// far.
struct RankMeter {
  /// `trees[level][i]` for i from 1: the number of queued jobs whose numbers are in the range that i covers.
  private var trees: [[Int32]]
  private var queued: [Int]

  init() {
    trees = Array(repeating: [], count: VirtualPool.levels)
    queued = Array(repeating: 0, count: VirtualPool.levels)
  }

  /// How many jobs are queued at a level or above.
  func count(from level: Int) -> Int { queued[level...].reduce(0, +) }

  mutating func add(_ job: QueuedJob) {
    let level = Int(job.level)
    while job.number + 1 >= trees[level].count { double(level) }
    change(level, job.number, 1)
  }

  /// - Returns: the number of queued jobs that should have gone before this one.
  mutating func take(_ job: QueuedJob) -> Int {
    let level = Int(job.level)
    change(level, job.number, -1)
    var index = job.number
    var before = 0
    while index > 0 {
      before += Int(trees[level][index])
      index &= index - 1
    }
    return before + count(from: level + 1)
  }

  private mutating func change(_ level: Int, _ number: Int, _ change: Int) {
    queued[level] += change
    var index = number + 1
    while index < trees[level].count {
      trees[level][index] += Int32(change)
      index += index & -index
    }
  }

  /// Twice as many numbers. The last element of the larger tree covers all numbers so far.
  private mutating func double(_ level: Int) {
    let count = max(1, trees[level].count - 1)
    trees[level].append(contentsOf: repeatElement(0, count: 2 * count + 1 - trees[level].count))
    trees[level][2 * count] = Int32(queued[level])
  }
}
