import Laboratory
import Operations
import Words

/// The benchmarks of `Words`, held by the gate: `wordbench run`, and `wordbench gate --base OTHER-BUILD`.
@main struct WordBench: BenchmarkProgram {
  static let text = String(repeating: "the quick brown fox jumps over the lazy dog ", count: 100)

  static let benchmarks = [
    // The plainest form: a closure, and how many operations one call of it does.
    Benchmark("words/split", operations: 900, isSingleThreaded: true) {
      guard Words.split(text).count == 900 else { throw CheckFailed("the text has 900 words") }
    },
    Benchmark("words/frequencies", operations: 900, isSingleThreaded: true) {
      guard Words.frequencies(of: text)["the"] == 200 else { throw CheckFailed("'the' occurs 200 times") }
    },
    // With something that is made once per process: here an operation queue on a backend of one's choice.
    Benchmark(
      "words/in-a-queue", operations: 100, setUp: { OperationQueue(backend: .stealing(workers: 1)) },
      measure: { queue in
        for _ in 0..<100 { queue.addOperation { _ = Words.split("one two three") } }
        queue.waitUntilAllOperationsAreFinished()
      }),
  ]
}
