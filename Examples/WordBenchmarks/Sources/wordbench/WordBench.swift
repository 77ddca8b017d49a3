import Laboratory
import Operations
import Words

/// The benchmarks of `Words`, held by the gate: `wordbench run`, and `wordbench gate --base OTHER-BUILD`.
@main struct WordBench: BenchmarkProgram {
  static let line = "the quick brown fox jumps over the lazy dog "
  static let text = String(repeating: line, count: 100)

  static let benchmarks =
    // Parameters: a benchmark for each size, with the operations of that size and the throughput of a word.
    [100, 1_000].map { lines in
      let text = String(repeating: line, count: lines)
      return Benchmark(
        "words/split", parameters: ["lines": lines], operations: 9 * lines,
        throughput: .bytes(perOperation: Double(line.utf8.count) / 9), isSingleThreaded: true
      ) {
        guard Words.split(text).count == 9 * lines else { throw CheckFailed("a line has 9 words") }
      }
    } + [
      // The plainest form: a closure, and how many operations one call of it does.
      Benchmark("words/frequencies", operations: 900, isSingleThreaded: true) {
        guard Words.frequencies(of: text)["the"] == 200 else { throw CheckFailed("'the' occurs 200 times") }
      },
      // With something that is made once per process, and a metric that is read from it after each value.
      Benchmark(
        "words/cached", operations: 900, setUp: { WordCache() },
        measure: { cache in
          cache.forget()
          for word in Words.split(text) { cache.use(word) }
          guard cache.words == 8 else { throw CheckFailed("the text has 8 different words") }
        },
        metrics: [
          BenchmarkMetric("hit_rate", unit: "ratio", better: .more) { cache, operations in
            Double(cache.takeHits()) / Double(operations)
          }
        ]),
      // An operation queue on a backend of one's choice.
      Benchmark(
        "words/in-a-queue", operations: 100, setUp: { OperationQueue(backend: .stealing(workers: 1)) },
        measure: { queue in
          for _ in 0..<100 { queue.addOperation { _ = Words.split("one two three") } }
          queue.waitUntilAllOperationsAreFinished()
        }),
      // An asynchronous body: one call starts ten tasks and waits for them.
      Benchmark("words/in-tasks", operations: 10, throughput: .items(perOperation: 900)) {
        let words = await withTaskGroup(of: Int.self) { group in
          for _ in 0..<10 { group.addTask { Words.split(text).count } }
          return await group.reduce(0, +)
        }
        guard words == 9_000 else { throw CheckFailed("ten texts have 9,000 words") }
      },
    ]
}
