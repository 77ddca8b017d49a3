import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// The recursion of the Fibonacci numbers, with one of the two calls as `async let`. An operation is an `async let`.
struct AsyncFib: Workload {
  let name = BenchmarkName("async", "fib")
  let summary = "fib(n) by recursion, one of the two calls as async let"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] { [["n": "18"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let number = try setting.integer("n")
    let subject = S(workers: setting.workers)
    var (expected, next, children) = (0, 1, [0, 0])
    for n in 0..<number {
      (expected, next) = (next, expected + next)
      if n > 0 { children.append(children[n] + children[n - 1] + 1) }
    }
    let result = AsyncResult()
    let right = expected
    return .task(of: max(1, children[number]), on: subject, executor: subject.taskExecutor) {
      result.value.store(await Self.fib(number), ordering: .relaxed)
    } verify: {
      let sum = result.value.exchange(-1, ordering: .relaxed)
      guard sum == right else { throw CheckFailed("fib(\(number)) gave \(sum), not \(right)") }
    }
  }

  private static func fib(_ number: Int) async -> Int {
    if number < 2 { return number }
    async let first = fib(number - 1)
    let second = await fib(number - 2)
    return await first + second
  }
}

/// What a task has computed.
final class AsyncResult: Sendable {
  let value = Atomic(-1)
}
