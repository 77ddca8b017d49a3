/// Finds the name that a misspelt name is likely to mean.
package enum Suggestion {
  /// The words after "there is no such name": the nearest name, when a name is near, and all names.
  package static func words(for word: String, among names: some Sequence<String>) -> String {
    let all = names.joined(separator: ", ")
    return closest(to: word, among: names).map { "; did you mean \($0)? There are \(all)" } ?? "; there are \(all)"
  }

  /// The words after "no benchmark matches", for a text that may mean a family, a benchmark, or one of `others`. The
  /// names of many benchmarks would fill the screen, so their families are named instead.
  /// - Parameter sets: what to list instead of the names, where benchmarks are chosen by their parameters too.
  package static func words(
    forBenchmark text: String, among names: [BenchmarkName], others: [String] = [], sets: [String]? = nil
  ) -> String {
    if let near = benchmark(for: text, among: names, others: others) { return "; did you mean \(near)?" }
    let all = sets ?? names.map(\.description)
    guard all.count > 20 else { return "; there are \(all.joined(separator: ", "))" }
    var families: [String] = []
    for name in names where !families.contains(name.family) { families.append(name.family) }
    return "; there are the families \(families.joined(separator: ", ")), and \(ProgramName.own) list has all names"
  }

  /// The name of the benchmark or family that a text is likely to mean.
  package static func benchmark(for text: String, among names: [BenchmarkName], others: [String] = []) -> String? {
    closest(to: text, among: names.map(\.benchmark) + names.map(\.description) + names.map(\.family) + others)
  }

  /// The nearest name, and the first of several equally near names; nil when all names are further away than one edit
  /// in three letters.
  package static func closest(to word: String, among names: some Sequence<String>) -> String? {
    let word = Array(word.lowercased())
    let near = names.map { (name: $0, edits: edits(word, Array($0.lowercased()))) }.min { $0.edits < $1.edits }
    guard let near, near.edits < word.count, near.edits <= max(1, min(word.count, near.name.count) / 3) else {
      return nil
    }
    return near.name
  }

  /// The number of letters that must be inserted, deleted, replaced or swapped with the next letter to turn one word
  /// into the other.
  static func edits(_ a: [Character], _ b: [Character]) -> Int {
    // Rows of the table of prefixes: `row` is for one letter less, `before` for two letters less.
    var before: [Int] = []
    var row = Array(0...b.count)
    for i in 0..<a.count {
      var next = [i + 1]
      for j in 0..<b.count {
        var least = min(row[j + 1] + 1, next[j] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[b.count]
  }
}
