import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// How long operations of the lowest level wait under a continuous stream of higher operations.
///
/// `backlog` higher operations are pending at the beginning. Each higher operation adds another from inside before it
/// returns, until there have been `ops` of them, so that a higher operation is always ready. The lowest operations are
/// added right after the first `backlog` higher ones. Under a strict scheduler, the lowest wait until the stream ends,
/// so the longest wait is the length of the stream. A scheduler that lets waiting operations age does better. The waits
/// of the stream itself are reported too.
struct Starvation: Workload {
  let name = BenchmarkName("priority", "starvation")
  let summary = "waits of the lowest level under a continuous stream of higher operations"
  let metrics = SampleSeries.metrics("wait")
  let headlines = [Metric("wait_p50_ns", unit: "ns"), Metric("wait_max_ns", unit: "ns")]
  let needs = Abilities.operations
  let repeats = RepeatPolicy.samples(20, seconds: 0.3)

  func parameterSets() -> [Parameters] {
    [["ops": "2000", "lowest": "10", "backlog": "16", "work_ns": "2000"]]
  }

  func extendedParameterSets() -> [Parameters] { FairnessVariants.of(parameterSets()) }
  func needs(_ parameters: Parameters) -> Abilities { FairnessVariants.needs(parameters, beside: needs) }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let stream = try PriorityStream<S>(setting)
    return Trial(operationsPerRepeat: stream.higher + stream.lowest) { repeats in
      var lowest: [UInt64] = []
      var higher: [UInt64] = []
      for _ in 0..<repeats {
        let waits = try stream.run()
        lowest += waits.lowest
        higher += waits.higher
      }
      return Value(samples: [
        SampleSeries("wait", detail: ["level": "\(PriorityStream<S>.lowestLevel)"], nanoseconds: lowest),
        SampleSeries("wait", detail: ["level": "\(PriorityStream<S>.higherLevel)"], nanoseconds: higher),
      ])
    }
  }
}

/// Higher operations that keep coming, and some operations of the lowest level among them.
private final class PriorityStream<S: OperationSubject>: @unchecked Sendable {
  // The thread that adds an operation writes the operation's `added` before adding. `added` is read when all operations
  // have run.
  static var lowestLevel: PriorityLevel { .veryLow }
  static var higherLevel: PriorityLevel { .high }

  let higher: Int
  let lowest: Int
  private let backlog: Int
  private let rounds: Int
  private let subject: S
  private let flags: RunFlags
  private let logs: ThreadLogs<Start>
  private let added: UnsafeMutablePointer<UInt64>
  private let allAdded = DispatchSemaphore(value: 0)

  private struct Start: Sendable {
    let index: Int
    let time: UInt64
  }

  init(_ setting: Setting) throws {
    higher = try setting.integer("ops")
    lowest = try setting.integer("lowest")
    backlog = min(max(1, try setting.integer("backlog")), higher)
    rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    subject = try FairnessVariants.subject(setting)
    flags = RunFlags(count: higher + lowest)
    logs = ThreadLogs(capacity: higher + lowest)
    added = .allocate(capacity: higher + lowest)
    added.initialize(repeating: 0, count: higher + lowest)
  }

  deinit { added.deallocate() }

  /// The waits from adding to starting. The lowest operations have the numbers from `higher` on.
  func run() throws -> (lowest: [UInt64], higher: [UInt64]) {
    for index in 0..<backlog { add(index, Self.higherLevel) }
    for index in higher..<higher + lowest { add(index, Self.lowestLevel) }
    // Each of the last `backlog` higher operations signals that it adds nothing more.
    for _ in 0..<backlog { allAdded.wait() }
    subject.drain()
    try flags.check()
    try checkEmpty(subject.remaining)
    let starts = logs.merge()
    let waits = { (range: Range<Int>) in
      starts.filter { range.contains($0.index) }.map { $0.time - self.added[$0.index] }
    }
    return (waits(higher..<higher + lowest), waits(0..<higher))
  }

  private func add(_ index: Int, _ level: PriorityLevel) {
    let item = S.makeOperation { self.execute(index) }
    S.setPriority(level, of: item)
    added[index] = Clock.now()
    subject.add(item)
  }

  private func execute(_ index: Int) {
    logs.append(Start(index: index, time: Clock.now()))
    flags.slot(index).mark()
    Spin.run(rounds: rounds)
    guard index < higher else { return }
    if index + backlog < higher { add(index + backlog, Self.higherLevel) } else { allAdded.signal() }
  }
}
