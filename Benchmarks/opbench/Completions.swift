import Subjects
import Workloads

/// What a shell offers after an option.
enum Completions {
  /// Backend names; after a comma, the next one.
  @Sendable static func backends(_ words: [String], _ word: Int, _ prefix: String) -> [String] {
    let typed = prefix.split(separator: ",", omittingEmptySubsequences: false).dropLast().map { "\($0)," }.joined()
    return (SubjectRegistry.all.map(\.name) + (typed.isEmpty ? ["all"] : [])).map { typed + $0 }
  }

  /// Families, which match all their benchmarks, and benchmarks.
  @Sendable static func benchmarks(_ words: [String], _ word: Int, _ prefix: String) -> [String] {
    let names = (try? Catalogue(graphs: [], seed: 1).workloads.map(\.name)) ?? []
    var families: [String] = []
    for name in names where !families.contains("\(name.family)/") { families.append("\(name.family)/") }
    return families + names.map(\.description)
  }
}
