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
  ///   - executor: where the task runs; nil for Swift's default executor.
  ///   - verify: throws when a round did anything other than asked.
  static func task<S: ClosureSubject>(
    of operations: Int, on subject: S, executor: (any TaskExecutor)?, _ round: @escaping @Sendable () async -> Void,
    verify: @escaping () throws -> Void
  ) -> Trial {
    Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        elapsed.add(timed(executor, round))
        try verify()
        try checkEmpty(subject.unfinished ?? 0)
      }
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }

  /// Times a round inside of the task, so that the start of the task and the wait for it are not timed.
  private static func timed(_ executor: (any TaskExecutor)?, _ round: @escaping @Sendable () async -> Void) -> Elapsed {
    let end = DispatchSemaphore(value: 0)
    let timed = TimedRound()
    Task.detached(executorPreference: executor) {
      let start = Counters.read()
      await round()
      timed.elapsed.withLock { $0 = Elapsed(since: start) }
      end.signal()
    }
    end.wait()
    return timed.elapsed.withLock { $0 }
  }
}

private final class TimedRound: Sendable {
  let elapsed = Mutex(Elapsed())
}
