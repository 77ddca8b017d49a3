import Testing

@testable import HarnessWords
@testable import Laboratory

/// Each mistake in the description of a benchmark is one line that says what would be right.
struct BenchmarkMistakeTests {
  private static func metric(_ name: String, unit: String = "words", better: BenchmarkMetric<Void>.Better = .less)
    -> BenchmarkMetric<Void>
  {
    BenchmarkMetric(name, unit: unit, better: better) { _, _ in 1 }
  }

  private static func with(_ metrics: BenchmarkMetric<Void>..., name: String = "a/b") -> Benchmark {
    Benchmark(name, setUp: {}, measure: { _ in }, metrics: metrics)
  }

  static let mistaken: [(benchmarks: [Benchmark], words: String)] = [
    ([Benchmark("plain") {}], "has the form family/benchmark"),
    ([Benchmark("") {}], "has the form family/benchmark"),
    ([Benchmark("a/b/c") {}], "'a/b/c' does not"),
    ([Benchmark("a/b c") {}], "without spaces"),
    ([Benchmark("a/b\u{1b}[31m") {}], "family/benchmark"),
    ([Benchmark("a/b", operations: 0) {}], "at least one operation"),
    ([Benchmark("a/b", parameters: ["my words": 1]) {}], "'my words' does not"),
    ([Benchmark("a/b", parameters: ["": 1]) {}], "name of a parameter"),
    ([Benchmark("a/b", parameters: ["kind": "a=b"]) {}], "'a=b' is none"),
    ([Benchmark("a/b", parameters: ["kind": "a;b"]) {}], "'a;b' is none"),
    ([Benchmark("a/b", parameters: ["kind": ""]) {}], "needs a value"),
    ([Benchmark("a/b", parameters: ["kind": "two\twords"]) {}], "without spaces"),
    ([Benchmark("a/b", throughput: .items(perOperation: 0)) {}], "above 0 per operation, not 0.0"),
    ([Benchmark("a/b", throughput: .bytes(perOperation: .infinity)) {}], "not inf"),
    ([with(metric("Words"))], "small letters"),
    ([with(metric("1st"))], "a letter first"),
    ([with(metric("ns_per_op"))], "'ns_per_op' of 'a/b' has the name of a metric of the laboratory's"),
    ([with(metric("items_per_second"))], "choose another"),
    ([with(metric("retained_bytes_per_op"))], "choose another"),
    ([with(metric("peak_rss"))], "choose another"),
    ([with(metric("makespan_ns"))], "choose another"),
    ([with(metric("words", unit: ""))], "needs a unit"),
    ([with(metric("words", unit: "two words"))], "'two words' is none"),
    ([with(metric("words"), metric("words"))], "two metrics 'words'"),
    ([Benchmark("a/b") {}, Benchmark("a/b") {}], "two benchmarks are 'a/b'"),
    (
      [Benchmark("a/b", parameters: ["n": 1]) {}, Benchmark("a/b", parameters: ["n": "1"]) {}],
      "two benchmarks are 'a/b n=1'; give one another name, other parameters, or another subject"
    ),
    ([Benchmark("a/b") {}.subject("own"), Benchmark("a/b") {}], "two benchmarks are 'a/b'"),
    ([Benchmark("a/b") {}.subject("two words")], "'two words' does not"),
    ([Benchmark("a/b") {}.subject("a,b")], "'a,b' does not"),
    ([Benchmark("a/b") {}.subject("")], "the name of a subject has letters"),
    ([Benchmark("laboratory/nothing") {}], "choose another"),
    (
      [with(metric("words")), with(metric("words", unit: "letters"), name: "a/c")],
      "'a/b' and 'a/c' have a metric 'words' of different units or sides"
    ),
    ([with(metric("words")), with(metric("words", better: .more), name: "a/c")], "different units or sides"),
  ]

  @Test(arguments: mistaken.indices) func aMistakeIsOneLine(index: Int) throws {
    let (benchmarks, words) = Self.mistaken[index]
    let line = try #require(BenchmarkMistakes.first(in: benchmarks, of: "own", reference: "own"))
    #expect(line.contains(words), "\(line)")
    #expect(line.split(whereSeparator: \.isNewline).count == 1)
  }

  @Test func whatIsDescribedWellPasses() {
    let benchmarks = [
      Benchmark("a/b") {}, Benchmark("a/b", parameters: ["n": 1]) {}, Benchmark("a/b", parameters: ["n": 2]) {},
      Benchmark("a/c", parameters: ["size-kind_2": 1.5, "of": true], throughput: .items(perOperation: 3)) {},
      Self.with(Self.metric("words"), name: "a/d"), Self.with(Self.metric("words"), name: "a/e"),
      Self.with(Self.metric("p99_ns", unit: "ns"), name: "a/f"),
    ]
    #expect(BenchmarkMistakes.first(in: benchmarks, of: "own", reference: "own") == nil)
    let beside = [Benchmark("a/b") {}.subject("one"), Benchmark("a/b") {}.subject("two"), Benchmark("a/b") {}]
    #expect(BenchmarkMistakes.first(in: beside, of: "own", reference: "two") == nil)
  }

  @Test func aReferenceThatNobodyMeasures() throws {
    let benchmarks = [Benchmark("a/b") {}.subject("one"), Benchmark("a/b") {}.subject("two")]
    let line = try #require(BenchmarkMistakes.first(in: benchmarks, of: "own", reference: "own"))
    #expect(line == "no benchmark measures the reference 'own'; the subjects are one, two")
  }

  private enum Twins: BenchmarkProgram {
    static let benchmarks = [Benchmark("a/b") {}, Benchmark("a/b") {}]
  }

  @Test func theProgramComplains() {
    let complaint = #expect(throws: Complaint.self) { try Twins.check() }
    #expect(complaint?.code == .software && complaint?.description.hasPrefix("two benchmarks are 'a/b'") == true)
  }
}
