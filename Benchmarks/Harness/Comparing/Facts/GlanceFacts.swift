import Glibc
import HarnessWords

/// The rows that a reader sees first: how the default does beside the reference, beside the nearest scheduler of
/// another language, and in fork and join beside all such schedulers that lead there, or beside the nearest one where
/// none leads.
struct GlanceFacts: Encodable {
  struct Row: Encodable {
    enum Key: String, Encodable { case add, chain, all, forkjoin }

    let key: Key
    let others: [Int]
    /// The number of benchmarks that all of the row have.
    let count: Int
    /// All means of ours over the others in round words.
    let words: String
    /// The mean of ours over each other, in their order. Every mean has an interval.
    let means: [Joined<Compared, MeanFacts>]
    /// The families of the row, or the benchmarks where there is one family; empty where there is one part.
    let parts: [Joined<Part, Joined<Compared, MeanFacts>>]
  }

  /// A mean in words, with the name of the other as Markdown shows a name.
  struct Compared: Encodable {
    let compared: String

    init(_ mean: MeanFacts, with other: String) { compared = mean.ratio.words.compared(with: "`\(other)`") }
  }

  struct Part: Encodable {
    enum Whole: String, Encodable { case family, benchmark }

    let name: String
    let of: Whole
    let words: String
  }

  /// The default: the first of ours.
  let ours: Int
  let rows: [Row]

  /// Nil where no subject is ours.
  init?(_ results: MeasuredResults) {
    let arms = results.widest(results.arms.indices)
    guard let ours = arms.first(where: results.isOurs) else { return nil }
    self.ours = ours
    let view = ResultView.whole(results)
    let reference = arms.filter(results.isReference)
    let peers = arms.filter { results.subjects[results.arms[$0].subject].role == "peer" }
    func line(_ benchmark: String, _ wanted: String) -> [Int] {
      results.lines.indices.first {
        let line = results.lines[$0]
        return line.benchmark == benchmark && line.metric.name == "ns_per_op"
          && line.scenario.parameters.contains(wanted)
      }.map { [$0] } ?? []
    }
    func mean(_ lines: [Int], _ other: Int) -> MeanFacts? {
      results.mean(lines, ours, other).flatMap { $0.ratio.low == nil ? nil : $0 }
    }
    /// The peer whose time is nearest to ours.
    func nearest(_ lines: [Int]) -> [Int] {
      let distances = peers.compactMap { peer in mean(lines, peer).map { (peer, abs(log($0.ratio.value))) } }
      return distances.min { $0.1 < $1.1 }.map { [$0.0] } ?? []
    }
    let (every, forkjoin) = (view.primaryLines(), view.primaryLines(family: "forkjoin"))
    let leading = peers.filter { mean(forkjoin, $0)?.ratio.low.map { $0 > 1 } ?? false }
    let wanted: [(Row.Key, [Int], [Int])] = [
      (.add, line("overhead/external-add", ""), reference),
      (.chain, line("dependencies/chain", "length=1000"), reference),
      (.all, every, nearest(every)),
      (.forkjoin, forkjoin, leading.isEmpty ? nearest(forkjoin) : leading),
    ]
    func compared(_ mean: MeanFacts, _ other: Int) -> Joined<Compared, MeanFacts> {
      Joined(Compared(mean, with: results.arms[other].subject), mean)
    }
    rows = wanted.compactMap { key, lines, others in
      let means = others.compactMap { mean(lines, $0) }
      guard !means.isEmpty, means.count == others.count else { return nil }
      let shared = lines.filter { line in ([ours] + others).allSatisfy { results.cell(line, $0) != nil } }
      return Row(
        key: key, others: others, count: Set(shared.map { results.lines[$0].benchmark }).count,
        words: RoundRatio.words(means.compactMap(\.round)), means: zip(means, others).map(compared),
        parts: Self.parts(lines, results).flatMap { part in
          others.compactMap { other in
            mean(part.lines, other).map {
              Joined(Part(name: part.name, of: part.of, words: RoundRatio.words([$0.round!])), compared($0, other))
            }
          }
        })
    }
  }

  /// The families of the lines, or the benchmarks where there is one family; none where there is one part.
  private static func parts(
    _ lines: [Int], _ results: MeasuredResults
  ) -> [(name: String, of: Part.Whole, lines: [Int])] {
    let hasFamilies = Set(lines.map { results.lines[$0].family }).count > 1
    var parts: [(name: String, of: Part.Whole, lines: [Int])] = []
    for line in lines {
      let scenario = results.lines[line].scenario.name
      let name = hasFamilies ? scenario.family : scenario.benchmark
      if let place = parts.firstIndex(where: { $0.name == name }) {
        parts[place].lines.append(line)
      } else {
        parts.append((name, hasFamilies ? .family : .benchmark, [line]))
      }
    }
    return parts.count > 1 ? parts : []
  }
}
