import Glibc
import TestSupport
import Testing

/// Subclasses by the combinations of what they override, and idioms of public code, on Foundation's classes and on
/// these. Set OPBENCH_TEST_SEEDS to a number for more cases than the ordinary run has.
@Suite("The same subclasses on Foundation's classes and on these", .ownThread, .serialized)
struct IdiomComparisonTests {
  /// - Parameter cases: the first seed, the number of cases, and for how many milliseconds each waits until it is over.
  private func lines(of program: String, _ cases: (first: UInt64, count: Int, patience: Int)) throws
    -> [UInt64: IdiomLine]
  {
    let (first, count, patience) = cases
    let run = try Scenario(running: program, "\(first),\(count),\(patience)")
    var lines: [UInt64: IdiomLine] = [:]
    for text in run.output.split(separator: "\n") {
      if let line = IdiomLine(text) { lines[line.seed] = line }
    }
    #expect(
      lines.count > count && run.exitCode == 0, "\(program) printed \(lines.count) cases: \(run.output.suffix(500))")
    return lines
  }

  @Test("each difference has its row; each entry of the list explains one")
  func comparison() throws {
    let asked = getenv("OPBENCH_TEST_SEEDS").flatMap { Int(String(cString: $0)) }
    let count = asked ?? 240
    let foundation = try lines(of: "FoundationIdioms", (1, count, 1_000))
    let ours = try lines(of: "OperationsIdioms", (1, count, 1_000))
    let entries = wantedDifferences
    var uses = [Int](repeating: 0, count: entries.count)
    for (seed, first) in ours.sorted(by: { $0.key < $1.key }) {
      guard var other = foundation[seed] else {
        Issue.record("Foundation's program has no case \(seed)")
        continue
      }
      var line = first
      if line.log != other.log, !entries.contains(where: { $0.explains(other, line) }) {
        // A busy machine may have cut the case short: once more, with more patience.
        line = try lines(of: "OperationsIdioms", (seed, 1, 10_000))[seed] ?? line
        other = try lines(of: "FoundationIdioms", (seed, 1, 10_000))[seed] ?? other
      }
      #expect(line.plan == other.plan)
      #expect(!line.log.hasPrefix("crashed") && !line.log.hasPrefix("hung"), "case \(seed), \(line.plan)")
      if line.log == other.log { continue }
      if let index = entries.firstIndex(where: { $0.explains(other, line) }) {
        uses[index] += 1
      } else {
        Issue.record("case \(seed), \(line.plan)\nFoundation: \(other.log)\nhere:       \(line.log)")
      }
    }
    for (entry, count) in zip(entries, uses) { #expect(count > 0, "no difference any more: \(entry.reason)") }
    if asked != nil { print("differences: \(zip(entries, uses).map { "\($1) \($0.reason)" }.joined(separator: "; "))") }
  }
}
