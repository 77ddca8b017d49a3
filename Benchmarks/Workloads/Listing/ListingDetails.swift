import HarnessMeasuring
import HarnessPlanning
import HarnessWords
import Subjects

/// What `opbench list NAME` prints: everything about a few benchmarks, or about a subject.
package struct ListingDetails {
  private let listing: Listing

  package init(_ listing: Listing) { self.listing = listing }

  package func text(width: Int) -> String {
    var parts = listing.subjects.map { subject($0, width: width) }
    parts += listing.benchmarks.map { benchmark($0, width: width) }
    if !listing.benchmarks.isEmpty { parts.append(every(width: width)) }
    return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
  }

  private func subject(_ subject: SubjectInfo, width: Int) -> [String] {
    var rows = [("can", (["closures"] + subject.abilities.names).joined(separator: ", "))]
    rows.append(("workers", subject.workersAreAdjustable ? "as --workers says" : "as many as the system gives it"))
    if let benchmarks = subject.benchmarks {
      rows.append(("benchmarks", benchmarks.sorted().joined(separator: ", ")))
      rows.append(("allocations", "not counted, they are not made through malloc alone"))
    }
    if let program = listing.program(subject) { rows.append(("program", program)) }
    return WrappedText.lines("\(subject.name)  \(subject.facts.line)", width: width, hanging: 4)
      + ListingOverview.rows(rows.map { (name: $0.0, text: $0.1) }, width: width) + decisions(subject, width: width)
  }

  /// The decisions of the subject's strategy, with what can be chosen.
  private func decisions(_ subject: SubjectInfo, width: Int) -> [String] {
    guard let decisions = SubjectVariant.decisions(of: subject.name) else { return [] }
    let example = decisions.prefix(2).map { "\($0.facts.name)=\($0.example)" }
    var lines = WrappedText.lines(
      "strategies: --backend '\(subject.name)(\(example.joined(separator: ";")))' changes these decisions",
      width: width,
      indent: 2, hanging: 4)
    for decision in decisions.map(\.facts) {
      lines += WrappedText.lines("\(decision.name)  \(decision.summary)", width: width, indent: 4, hanging: 6)
      let rows = decision.choices.map { choice in
        (
          name: "\(decision.name)=\(choice.text)",
          text: choice.words + (choice.text == decision.usual ? " (default)" : "")
        )
      }
      lines += ListingOverview.rows(rows, width: width - 4).map { "    \($0)" }
      if decision.choices.contains(where: { $0.text == decision.usual }) { continue }
      lines.append("        the default is \(decision.usual)")
    }
    return lines
  }

  private func benchmark(_ choice: BenchmarkChoice, width: Int) -> [String] {
    let workload = choice.workload
    func sets(_ sets: [Parameters]) -> [String] {
      sets.filter { !$0.isEmpty }
        .flatMap { WrappedText.lines("\($0)", width: width, indent: 4, hanging: 6) }
    }
    var lines = WrappedText.lines("\(workload.name)  \(workload.summary)", width: width, hanging: 4)
    lines += sets(choice.parameterSets)
    if !choice.variants.isEmpty {
      let when = choice.hasOnlyVariants ? "in a run that names the benchmark, or with" : "variants, with"
      lines += ["  \(when) \(LeftOut.option)"] + sets(choice.variants)
    }
    var rows = [("metrics", Self.words(workload.metrics))]
    if !workload.needs.isEmpty { rows.append(("needs", workload.needs.names.joined(separator: ", "))) }
    rows += Listing.empty(workload).map { ("empty for", "\($0.names.joined(separator: ", ")): \($0.reason)") }
    return lines + ListingOverview.rows(rows.map { (name: $0.0, text: $0.1) }, width: width)
  }

  private func every(width: Int) -> [String] {
    WrappedText.lines(
      "every benchmark, once per process, where the machine allows: \(Self.words(Metric.process))", width: width,
      hanging: 4)
      + WrappedText.lines(
        "every benchmark whose allocations are counted, once: \(Self.words(Metric.counting))", width: width, hanging: 4)
  }

  private static func words(_ metrics: [Metric]) -> String {
    metrics.map { "\($0.name) (\($0.unit))" }.joined(separator: ", ")
  }
}
