import HarnessWords

/// A benchmark with the parameters that the user asked for.
package struct BenchmarkChoice: Sendable {
  package let workload: any Workload
  /// The parameters that run.
  package let parameterSets: [Parameters]
  /// The parameters that run only on request: larger sizes, other shapes.
  package let variants: [Parameters]

  init(_ workload: any Workload, parameterSets: [Parameters], variants: [Parameters]) {
    (self.workload, self.parameterSets, self.variants) = (workload, parameterSets, variants)
  }

  /// Whether the benchmark itself has no parameters that run unasked.
  package var hasOnlyVariants: Bool { workload.parameterSets().isEmpty }

  package var withVariants: BenchmarkChoice {
    BenchmarkChoice(workload, parameterSets: parameterSets + variants, variants: [])
  }

  /// A benchmark whose name matches is taken with all its parameters. When only `name parameters` matches, the
  /// benchmark is taken with the parameters that match. Without an expression, everything is taken. `others` are names
  /// that the text may have been meant for too.
  package static func all(
    _ catalogue: Catalogue, matching text: String?, option: String, others: [String] = []
  ) throws -> [BenchmarkChoice] {
    let everything = catalogue.workloads.map {
      BenchmarkChoice($0, parameterSets: $0.parameterSets(), variants: $0.extendedParameterSets())
    }
    guard let text else { return everything }
    let expression = try NamePattern.read(text, of: option)
    let chosen = everything.compactMap { $0.matching(expression) }
    guard !chosen.isEmpty else {
      let names = catalogue.workloads.map(\.name)
      let name = String(text.prefix { $0 != " " })
      if name != text, let expression = try? Regex(name), names.contains(where: { "\($0)".contains(expression) }) {
        let parameters = text.dropFirst(name.count + 1)
        throw Complaint(
          .usage, "no parameters of \(name) match '\(parameters)'; \(ProgramName.own) list \(name) has them all")
      }
      let words = Suggestion.words(forBenchmark: text, among: names, others: others)
      throw Complaint(.usage, "no benchmark matches '\(text)', neither by name nor by 'name key=value'\(words)")
    }
    return chosen
  }

  private func matching(_ expression: Regex<AnyRegexOutput>) -> BenchmarkChoice? {
    if "\(workload.name)".contains(expression) { return self }
    func matches(_ parameters: Parameters) -> Bool { "\(workload.name) \(parameters)".contains(expression) }
    let chosen = BenchmarkChoice(
      workload, parameterSets: parameterSets.filter(matches), variants: variants.filter(matches))
    return chosen.parameterSets.isEmpty && chosen.variants.isEmpty ? nil : chosen
  }
}
