import FoundationEssentials
import Testing

/// A file beside the protocols' models (Tests/Models) that holds pure functions of the library as rows of numbers: the
/// models read it, and a test compares it with the functions, so that neither can change alone.
package struct ModelTable {
  private let path: String
  private let text: String

  /// - Parameters:
  ///   - name: of the file in Tests/Models.
  ///   - comment: its first lines.
  ///   - rows: each becomes a line `WORD(…)`.
  package init(_ name: String, comment: [String], rows: [String], source: String = #filePath) {
    let root = source.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    path = "\(root)/Tests/Models/\(name)"
    text = (comment.map { "/* \($0) */" } + rows.map { "WORD(\($0))" }).joined(separator: "\n") + "\n"
  }

  /// Fails when the file says something else. With OPBENCH_WRITE_MODEL_TABLES in the environment it writes the file
  /// first.
  package func check(test: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let path = path
    if ProcessInfo.processInfo.environment["OPBENCH_WRITE_MODEL_TABLES"] != nil {
      #expect(throws: Never.self, sourceLocation: sourceLocation) {
        try Data(text.utf8).write(to: URL(filePath: path))
      }
    }
    let written = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let foundLines = written.split(separator: "\n")
    let lines = text.split(separator: "\n")
    let first = zip(foundLines, lines).first { $0 != $1 }
    let difference = first.map { "\($0.0) should be \($0.1)" } ?? "\(foundLines.count) lines for \(lines.count)"
    // Not the texts themselves, which a failure would print.
    let isSame = written == text
    #expect(
      isSame,
      """
      the models know other transitions (\(difference)); regenerate with \
      OPBENCH_WRITE_MODEL_TABLES=1 swift test --filter \(test) and run scripts/hunt/models
      """, sourceLocation: sourceLocation)
  }
}
