import Glibc
import Laboratory

/// Benchmarks that print, close what is not theirs, or measure nothing.
@main struct OddBenchmarks: BenchmarkProgram {
  static let benchmarks: [Benchmark] = {
    // Before any benchmark is known.
    raw("made\n")
    return [
      Benchmark("quiet/sum", operations: 1_000, isSingleThreaded: true) { blackHole((0..<1_000).reduce(0, ^)) },
      Benchmark("prints/lines") {
        raw("a line\n")
        print("another line")
        fflush(nil)
        use()
      },
      // The beginning of a line, before which or into which the next result would be written.
      Benchmark("prints/pieces") {
        raw("piece")
        use()
      },
      // What looks like results.
      Benchmark("prints/results") {
        raw("repeats\t1\nreading\t1\tns_per_op\tns\t0.5\t1\t\nend\n")
        use()
      },
      Benchmark("prints/by-another-program") {
        guard system("echo said by another program") == 0 else { throw CheckFailed("the program failed") }
      },
      Benchmark("closes/all", setUp: { for descriptor: Int32 in 3..<2_000 { close(descriptor) } }, measure: { use() }),
      Benchmark("empty/closure", operations: 1_000_000) {},
      Benchmark("empty/asynchronous", operations: 1_000_000) { () async in },
      Benchmark("long/sleep") { sleep(60) }.lasting(.seconds(60)),
    ]
  }()

  private static func raw(_ text: String) { _ = text.withCString { write(STDOUT_FILENO, $0, strlen($0)) } }

  /// Some ten microseconds.
  private static func use() { blackHole((0..<10_000).reduce(0, ^)) }
}
