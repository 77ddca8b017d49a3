/// The completions that a shell offers after an option.
package enum SuiteCompletions {
  /// The names of subjects; after a comma, the name of the next subject.
  package static func subjects(_ suite: any Suite, prefix: String, withAll: Bool = false) -> [String] {
    let typed = prefix.split(separator: ",", omittingEmptySubsequences: false).dropLast().map { "\($0)," }.joined()
    return (suite.subjects.map(\.name) + (withAll && typed.isEmpty ? ["all"] : [])).map { typed + $0 }
  }

  /// Families, which match all their benchmarks, and benchmarks.
  package static func benchmarks(_ suite: any Suite) -> [String] {
    let names = suite.benchmarkNames
    var families: [String] = []
    for name in names where !families.contains("\(name.family)/") { families.append("\(name.family)/") }
    return families + names.map(\.description)
  }
}
