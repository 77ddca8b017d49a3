import HarnessMeasuring
import HarnessWords
import Subjects

/// A tree of operations: the body of a parent adds its children to its own queue and waits for each of them. Only the
/// leaves work, and only shortly.
///
/// Timed: from adding the root until all operations have run. Where `blocking/nested-wait` asks whether a queue gets
/// through long operations that wait for one each, this benchmark asks what many short waits cost. A queue is quick
/// when a waiting thread goes on with other operations, or is soon replaced by another thread. `threads_created` is
/// what the waits cost in threads.
struct WaitingParents: Workload {
  let name = BenchmarkName("strategy", "waiting-parents")
  let summary = "a tree of short operations whose parents add their children and wait for them"
  let metrics = Metric.cost
  let headlines = [Metric.nsPerOp, .cpuNsPerOp, .voluntarySwitchesPerOp, .threadsCreated]
  let needs = Abilities.operations
  let repeats = RepeatPolicy.calibrated(seconds: 0.005)
  /// A process takes under a second, so a process that takes longer than this is in a deadlock.
  let timeLimit: Double? = 5

  func extendedParameterSets() -> [Parameters] { [["children": "3", "depth": "6", "work_ns": "1000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let family = WaitingFamily<S>(
      children: max(1, try setting.integer("children")), depth: try setting.integer("depth"),
      rounds: setting.spin.rounds(nanoseconds: try setting.number("work_ns")), setting)
    return .rounds(of: family.flags.count, family.flags, on: family.subject) { family.add(0) }
  }
}

/// A complete tree of operations, numbered from the root. The children of operation n are the `children` numbers from
/// `n * children + 1` on. A body notes that it ran only when its children have run.
private final class WaitingFamily<S: OperationSubject>: Sendable {
  let subject: S
  let flags: RunFlags
  private let children: Int
  private let parents: Int
  private let rounds: Int

  init(children: Int, depth: Int, rounds: Int, _ setting: Setting) {
    self.children = children
    self.rounds = rounds
    var parents = 0
    for _ in 0..<depth { parents = parents * children + 1 }
    self.parents = parents
    subject = S(workers: setting.workers)
    flags = RunFlags(count: parents * children + 1)
  }

  @discardableResult
  func add(_ index: Int) -> S.Item {
    // The body counts no reference, because that is no cost of a subject. The trial keeps this object.
    let family = Unmanaged.passUnretained(self)
    let item = S.makeOperation { family._withUnsafeGuaranteedRef { $0.execute(index) } }
    subject.add(item)
    return item
  }

  private func execute(_ index: Int) {
    if index < parents {
      let numbers = index * children + 1..<(index + 1) * children + 1
      for item in numbers.map({ add($0) }) { S.wait(for: item) }
      guard numbers.allSatisfy(flags.hasRun) else { return }
    } else {
      Spin.run(rounds: rounds)
    }
    flags.slot(index).mark()
  }
}
