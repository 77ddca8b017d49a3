import HarnessWords

/// The table of `opbench compare` for simulated rows: each strategy against the default with few and with many virtual
/// workers, and METG where granularities were swept.
package struct SimulatedText {
  private let facts: SimulatedFacts

  package init(_ files: [SimulatedFile]) throws { facts = try SimulatedFacts(files) }

  package func text(width: Int) -> String {
    let models = facts.models.joined(separator: " and ")
    let heading = "simulated: no CPU ran these tasks. The costs are those of: \(models)"
    let parts = [WrappedText.text(Printable.name(heading), width: width), moves(width), sweeps]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  private func moves(_ width: Int) -> String {
    guard let moves = facts.moves else { return "" }
    let counts = facts.few == facts.many ? [facts.few] : [facts.few, facts.many]
    let head = ["makespan over that of \(facts.base)"] + counts.map { Count.of($0, "worker") }
    let rows = moves.map { move in
      let ratios = [move.few, move.many].prefix(counts.count)
      return [move.backend] + ratios.map { $0.map { "\($0.text) \($0.verdict)" } ?? "-" }
    }
    let legend =
      "x: the geometric mean over all graphs, its median over the seeds, and in brackets the least and the most. better, worse: "
      + "all seeds say so by more than \(facts.marginText)."
    return (Table.aligned([head] + rows).map(Printable.name) + ["", WrappedText.text(legend, width: width)])
      .joined(separator: "\n")
  }

  private var sweeps: String {
    facts.sweeps.map { sweep in
      let head = ["METG(50 %) of \(sweep.title)"] + sweep.workers.map { Count.of($0, "worker") }
      let rows = sweep.rows.map { row in
        [row.backend] + sweep.workers.map { count in row.cells.first { $0.workers == count }?.text ?? "-" }
      }
      return Table.aligned([head] + rows).map(Printable.name).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }
}
