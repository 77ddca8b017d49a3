import Glibc
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// As `external-add`, with a completion block on every operation.
///
/// Timed: until all operations and all completion blocks have run. A queue need not wait for completion blocks. Each
/// block must run once.
struct WithCompletion: Workload {
  let name = BenchmarkName("overhead", "with-completion")
  let summary = "one outside thread adds empty operations, each with a completion block"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations
  /// The nanoseconds to wait for a completion block before the block counts as lost.
  var patience: UInt64 = 10_000_000_000

  func parameterSets() -> [Parameters] { [["ops": "10000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let completions = CompletionFlags(count: operations)
    let patience = patience
    return .rounds(of: operations, flags, on: subject) {
      for index in 0..<operations {
        let flag = flags.slot(index)
        let item = S.makeOperation { flag.mark() }
        let completion = completions.slot(index)
        S.setCompletion({ completion.mark() }, of: item)
        subject.add(item)
      }
      subject.drain()
      completions.wait(patience: patience)
    } verify: {
      try completions.check()
    }
  }
}

/// A word per completion block. The waiting thread may read the words while the blocks run. The memory lives as long as
/// the process, as that of `RunFlags` does.
private struct CompletionFlags: @unchecked Sendable {
  // The words are atomic.
  private let words: UnsafeMutablePointer<Atomic<UInt32>>
  private let count: Int

  /// The place where one block notes that it ran.
  struct Slot: @unchecked Sendable {
    fileprivate let word: UnsafeMutablePointer<Atomic<UInt32>>

    @inline(__always)
    func mark() { word.pointee.wrappingAdd(1, ordering: .releasing) }
  }

  init(count: Int) {
    self.count = count
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
  }

  @inline(__always)
  func slot(_ index: Int) -> Slot { Slot(word: words + index) }

  /// Waits until every block has run, or `patience` has passed.
  func wait(patience: UInt64) {
    let start = Clock.now()
    for index in 0..<count {
      while words[index].load(ordering: .acquiring) == 0 {
        if Clock.now() - start > patience { return }
        // The thread that runs the blocks may need this CPU.
        sched_yield()
      }
    }
  }

  /// Throws unless every block ran once since the last check.
  func check() throws {
    for index in 0..<count {
      let calls = words[index].exchange(0, ordering: .acquiringAndReleasing)
      guard calls == 1 else {
        throw CheckFailed("the completion block of operation \(index) of \(count) ran \(calls) times instead of once")
      }
    }
  }
}
