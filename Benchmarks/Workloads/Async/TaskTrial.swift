import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

extension Trial {
  /// The trial of a benchmark whose rounds are in a task. The thread that measures waits for the task meanwhile.
  ///
  /// - Parameters:
  ///   - operations: the number of operations in one round.
  ///   - flags: those of operations that must have run once.
  ///   - executor: where the task runs; nil for Swift's default executor.
  ///   - verify: throws when a round did anything other than asked.
  static func task<S: ClosureSubject>(
    of operations: Int, _ flags: RunFlags? = nil, on subject: S, executor: (any TaskExecutor)?,
    _ round: @escaping @Sendable () async -> Void, verify: @escaping () throws -> Void = {}
  ) -> Trial {
    Trial(operationsPerRepeat: operations) { repeats in
      let elapsed = ElapsedInTasks()
      for _ in 0..<repeats {
        elapsed.time(round, on: executor)
        try flags?.check()
        try verify()
        try checkEmpty(subject.unfinished ?? 0)
      }
      return Value(elapsed.sum.withLock { $0.readings(operations: operations * repeats) })
    }
  }
}

/// The time of rounds that run in tasks.
private final class ElapsedInTasks: Sendable {
  let sum = Mutex(Elapsed())

  /// Times a round inside of its task, so that the start of the task and the wait for it are not timed.
  func time(_ round: @escaping @Sendable () async -> Void, on executor: (any TaskExecutor)?) {
    let end = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: executor) {
      let start = Counters.read()
      await round()
      self.sum.withLock { $0.add(since: start) }
      end.signal()
    }
    end.wait()
  }
}
