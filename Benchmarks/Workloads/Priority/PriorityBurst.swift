import HarnessMeasuring
import HarnessStatistics
import Subjects

/// A burst of operations of all five levels. One thread adds the operations as fast as it can while they run. Each
/// operation spins a little, so that a backlog builds up in which priority decides the next operation.
final class PriorityBurst<S: OperationSubject>: Sendable {
  private let subject: S
  private let flags: RunFlags
  private let logs: ThreadLogs<Entry>
  private let rounds: Int
  private let seed: UInt64
  private let operations: Int

  private struct Entry: Sendable {
    let index: Int
    let started: UInt64
    let ended: UInt64
  }

  /// The event of an operation, and the time just before the operation was added.
  struct Record {
    let event: PriorityEvent
    let added: UInt64
  }

  init(_ setting: Setting) throws {
    operations = try setting.integer("ops")
    rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    seed = setting.seed
    subject = try FairnessVariants.subject(setting)
    flags = RunFlags(count: operations)
    logs = ThreadLogs(capacity: operations)
  }

  /// Runs one burst. The levels follow from the seed and the number of the burst, so every subject gets the same
  /// levels.
  func run(_ burst: Int) throws -> [Record] {
    var random = SeededGenerator(seed: seed &+ UInt64(burst), purpose: "priority-levels")
    let levels = (0..<operations).map { _ in PriorityLevel.allCases.randomElement(using: &random)! }
    let items = (0..<operations).map { index in
      let item = S.makeOperation { [self] in
        let started = Clock.now()
        flags.slot(index).mark()
        Spin.run(rounds: rounds)
        logs.append(Entry(index: index, started: started, ended: Clock.now()))
      }
      S.setPriority(levels[index], of: item)
      return item
    }
    var before = [UInt64](repeating: 0, count: operations)
    var after = before
    for index in 0..<operations {
      before[index] = Clock.now()
      subject.add(items[index])
      after[index] = Clock.now()
    }
    subject.drain()
    try flags.check()
    try checkEmpty(subject.remaining)
    return logs.merge().map { entry in
      // An operation is ready at the latest when the call that adds it has returned. An operation that started before
      // the return was ready when it started.
      let event = PriorityEvent(
        level: levels[entry.index], ready: min(after[entry.index], entry.started), started: entry.started,
        ended: entry.ended)
      return Record(event: event, added: before[entry.index])
    }
  }
}
