import HarnessWords

/// One word per operation, in which the body notes that it ran. The checks of the benchmarks rest on these words.
///
/// There is no shared counter, because two workers that add to one word would slow each other down, and the time would
/// be measured. Each word is written by its own operation alone and read after the subject has said that all operations
/// are done, so the words need not be atomic.
struct RunFlags: @unchecked Sendable {
  private let words: UnsafeMutablePointer<UInt32>
  let count: Int

  init(count: Int) {
    words = .allocate(capacity: count)
    words.initialize(repeating: 0, count: count)
    self.count = count
  }

  /// Needed for flags that do not live as long as the process.
  func deallocate() { words.deallocate() }

  /// The address that an operation's body captures: one word of context.
  @inline(__always)
  func slot(_ index: Int) -> RunFlag { RunFlag(word: words + index) }

  /// Throws unless every operation ran `times` times since the last check; then sets all words to zero.
  func check(times: UInt32 = 1) throws {
    for index in 0..<count {
      let runs = words[index]
      guard runs == times else {
        throw CheckFailed("operation \(index) of \(count) ran \(runs) times instead of \(times)")
      }
      words[index] = 0
    }
  }

  /// How often one operation ran since the last check; then sets its word to zero.
  func take(_ index: Int) -> UInt32 {
    defer { words[index] = 0 }
    return words[index]
  }

  func hasRun(_ index: Int) -> Bool { words[index] != 0 }

  /// The number of operations that have run so far.
  var ran: Int { (0..<count).count { words[$0] != 0 } }
}

/// The place where one operation notes that it ran.
struct RunFlag: @unchecked Sendable {
  fileprivate let word: UnsafeMutablePointer<UInt32>

  @inline(__always)
  func mark() { word.pointee &+= 1 }
}

/// Throws when operations are left in a queue after a benchmark has drained the queue.
func checkEmpty(_ remaining: Int) throws {
  guard remaining == 0 else { throw CheckFailed("\(remaining) operations are left in the queue after it was drained") }
}
