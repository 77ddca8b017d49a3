import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// A binary tree of operations: the body of a parent adds its two children and returns. Nothing waits inside a body.
///
/// Timed: from adding the root until all operations have run. `peak_pending` is the largest number of operations at one
/// time that were added and had not started. A worker that runs its newest operation first goes down the tree and keeps
/// a few operations per level. A worker that runs its oldest operation first goes across the tree and keeps a whole
/// level. The peak is that of one further run after each value. All operations of that run share a counter, so the time
/// of that run does not count.
struct TreePeak: Workload {
  let name = BenchmarkName("strategy", "tree-peak")
  let summary = "a tree whose operations add their children: the time, and how many are pending at once"
  let metrics = Metric.cost + [Metric.peakPending]
  let headlines = [Metric.nsPerOp, .peakPending, .peakRSS]

  func extendedParameterSets() -> [Parameters] { [["levels": "14"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let levels = try setting.integer("levels")
    guard 1...24 ~= levels else {
      throw Complaint(.usage, "parameter 'levels' goes from 1 to 24, unlike in '\(setting.parameters)'")
    }
    let operations = (1 << levels) - 1
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let gauge = PendingGauge()
    let plain = SpawnTree(subject, flags, gauge: nil)
    let counting = SpawnTree(subject, flags, gauge: gauge)
    let timed = Trial.rounds(of: operations, flags, on: subject) { plain.run() }
    let counted = Trial.rounds(of: operations, flags, on: subject) { counting.run() }
    return Trial(operationsPerRepeat: operations) { repeats in
      var value = try timed.measure(repeats)
      _ = try counted.measure(1)
      value.readings.append(Reading(.peakPending, Double(try gauge.takePeak()), count: operations))
      return value
    }
  }
}

/// A complete binary tree of operations, numbered from the root. The children of operation n are 2n+1 and 2n+2.
final class SpawnTree<S: ClosureSubject>: @unchecked Sendable {
  // Sendable: the properties are constant, and the words of `unfinished` are atomic.
  private let subject: S
  private let flags: RunFlags
  private let gauge: PendingGauge?
  private let parents: Int
  /// For each parent, the children below which an operation has not run. The word is 2 again when both have run.
  private let unfinished: UnsafeMutablePointer<Atomic<UInt32>>
  private let finished = DispatchSemaphore(value: 0)

  /// A tree with an operation for each flag.
  init(_ subject: S, _ flags: RunFlags, gauge: PendingGauge?) {
    (self.subject, self.flags, self.gauge) = (subject, flags, gauge)
    parents = flags.count / 2
    unfinished = .allocate(capacity: parents)
    for parent in 0..<parents { (unfinished + parent).initialize(to: Atomic(2)) }
  }

  deinit { unfinished.deallocate() }

  /// Adds the root, and returns when every operation has run. Bodies may still be returning then.
  func run() {
    add(0)
    finished.wait()
  }

  /// The body counts no reference, because that is no cost of a subject. The trial keeps this object.
  @inline(__always)
  private func add(_ index: Int) {
    gauge?.add()
    let tree = Unmanaged.passUnretained(self)
    subject.submit { tree._withUnsafeGuaranteedRef { $0.execute(index) } }
  }

  private func execute(_ index: Int) {
    gauge?.start()
    flags.slot(index).mark()
    guard index < parents else { return complete(index) }
    add(2 * index + 1)
    add(2 * index + 2)
  }

  /// Notes that everything from this operation down has run. There is no counter for the whole tree, because all
  /// workers would write that counter all the time.
  private func complete(_ index: Int) {
    var index = index
    while index > 0 {
      index = (index - 1) / 2
      guard unfinished[index].wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
      unfinished[index].store(2, ordering: .relaxed)
    }
    finished.signal()
  }
}
