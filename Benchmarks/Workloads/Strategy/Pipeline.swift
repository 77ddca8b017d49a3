import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Items that pass through `stages` stages, with at most `depth` items under way. The operation of a stage adds the
/// next stage of its item as its last act. The last stage lets the next item in.
///
/// Timed: from letting the first items in until all items have left. An operation is one stage of one item. A worker
/// that runs its newest operation first takes one item through all stages. A worker that runs its oldest operation
/// first takes a stage of each item in turn.
struct Pipeline: Workload {
  let name = BenchmarkName("strategy", "pipeline")
  let summary = "items that pass through stages, a bounded number at a time: the time per item and stage"
  let metrics = Metric.cost
  let headlines = [Metric.nsPerOp, .cpuNsPerOp, .voluntarySwitchesPerOp]

  func extendedParameterSets() -> [Parameters] {
    [["items": "1000", "stages": "4", "depth": "8", "work_ns": "500"]]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let items = max(1, try setting.integer("items"))
    let stages = max(1, try setting.integer("stages"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: items * stages)
    let belt = PipelineBelt(
      subject, flags, stages: stages, depth: max(1, try setting.integer("depth")),
      rounds: setting.spin.rounds(nanoseconds: try setting.number("work_ns")))
    return .rounds(of: items * stages, flags, on: subject) { belt.run() }
  }
}

/// The items of a run. Stage s of item i has the number `i * stages + s`.
private final class PipelineBelt<S: ClosureSubject>: Sendable {
  private let subject: S
  private let flags: RunFlags
  private let items: Int
  private let stages: Int
  private let depth: Int
  private let rounds: Int
  /// The number of items that have been let in.
  private let entered = Atomic<Int>(0)
  /// The number of items that have not left.
  private let left = Atomic<Int>(0)
  private let finished = DispatchSemaphore(value: 0)

  init(_ subject: S, _ flags: RunFlags, stages: Int, depth: Int, rounds: Int) {
    (self.subject, self.flags, self.stages, self.rounds) = (subject, flags, stages, rounds)
    items = flags.count / stages
    self.depth = min(depth, items)
  }

  /// Returns when all items have left. Bodies may still be returning then.
  func run() {
    entered.store(depth, ordering: .relaxed)
    left.store(items, ordering: .relaxed)
    for item in 0..<depth { add(item * stages) }
    finished.wait()
  }

  /// The body counts no reference, because that is no cost of a subject. The trial keeps this object.
  @inline(__always)
  private func add(_ index: Int) {
    let belt = Unmanaged.passUnretained(self)
    subject.submit { belt._withUnsafeGuaranteedRef { $0.execute(index) } }
  }

  private func execute(_ index: Int) {
    Spin.run(rounds: rounds)
    // A stage whose item has not been through the stage before leaves no mark, and the check finds that.
    if index % stages == 0 || flags.hasRun(index - 1) { flags.slot(index).mark() }
    guard (index + 1) % stages == 0 else { return add(index + 1) }
    let next = entered.wrappingAdd(1, ordering: .relaxed).oldValue
    if next < items { add(next * stages) }
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { finished.signal() }
  }
}
