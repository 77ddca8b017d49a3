import FoundationEssentials
import HarnessResults
import HarnessWords

/// The document of facts: everything that a report shows of some results, each number with its text. This program makes
/// every number. The reader of the document chooses words and draws.
///
/// `compare --format json` writes the document of a comparison, and `report` hands the document of all its files to the
/// program that draws.
package struct FactsDocument: Encodable {
  /// The form of the document.
  package let schema = 3
  /// The bounds and suffixes of the units, for the ticks of an axis.
  let units = NumberFormat.scales.mapValues { $0.map(UnitScale.init) }
  let sources: [SourceFacts]
  /// Nil where no file has measured rows, and where two results are compared with one another.
  let measured: MeasuredFacts?
  /// Nil where no file has simulated rows.
  let simulated: SimulatedFacts?
  /// A part for each file of `explain`.
  let explained: [ExplainedFacts]
  let comparison: ComparisonFacts?
  /// What results say of limits; nil where no limit was given.
  let limits: [LimitFacts]?

  /// A pair in JSON: from which size on the suffix is used.
  struct UnitScale: Encodable {
    let bound: Double
    let suffix: String

    func encode(to encoder: any Encoder) throws {
      var pair = encoder.unkeyedContainer()
      try pair.encode(bound)
      try pair.encode(suffix)
    }
  }

  /// The facts of a report.
  /// - Parameters:
  ///   - explained: the files of `explain`.
  ///   - reference: the subject to compare with; nil: the one that the results name.
  ///   - claims: what others published, to be judged by our numbers.
  package init(
    _ sets: [ResultSet], simulated files: [SimulatedFile], explained: [ExplainedFile] = [], reference: String?,
    claims: [PublishedClaim]? = nil
  ) throws {
    sources = sets.map(SourceFacts.init) + files.map(SourceFacts.init) + explained.map(SourceFacts.init)
    measured =
      try sets.isEmpty ? nil : MeasuredFacts(MeasuredResults(sets, reference: reference), claims: claims)
    simulated = try files.isEmpty ? nil : SimulatedFacts(files)
    (self.explained, comparison, limits) = (explained.map(ExplainedFacts.init), nil, nil)
  }

  /// What results say of limits.
  package init(_ table: LimitTable, of sets: [ResultSet]) {
    sources = sets.map(SourceFacts.init)
    (measured, simulated, explained, comparison) = (nil, nil, [], nil)
    limits = table.lines.map(LimitFacts.init)
  }

  /// The facts of a comparison. Those of a single result are beside it.
  package init(_ comparison: Comparison, of sets: [ResultSet], reference: String?) throws {
    sources = sets.map(SourceFacts.init)
    measured =
      try sets.count == 1 ? MeasuredFacts(MeasuredResults(sets, reference: reference), claims: nil) : nil
    (simulated, explained, limits) = (nil, [], nil)
    self.comparison = ComparisonFacts(comparison)
  }

  package func json(isCompact: Bool = false) throws -> String { try JSONFile.text(self, isCompact: isCompact) }
}
