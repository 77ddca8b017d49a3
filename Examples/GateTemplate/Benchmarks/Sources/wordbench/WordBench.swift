import Laboratory
import Words

/// `wordbench list`, `run`, `gate` and more: `wordbench --help`.
@main struct WordBench: BenchmarkProgram {
  static let lines = [String](repeating: "the quick brown fox jumps over the lazy dog", count: 100)

  static let benchmarks = [
    // The number of operations makes the figures be per operation. The body checks its result: a wrong one has no time.
    Benchmark("words/split", operations: 100, isSingleThreaded: true) {
      for line in lines { guard Words.split(line).count == 9 else { throw CheckFailed("the line has 9 words") } }
    },
    Benchmark("words/frequencies", operations: 100, isSingleThreaded: true) {
      guard Words.frequencies(of: lines)["the"] == 200 else { throw CheckFailed("'the' occurs 200 times") }
    },
  ]
}
