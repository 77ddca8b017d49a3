import HarnessWords

/// The list of what a published campaign holds: a checksum for each file, and how each table is made of the rows. The
/// lines of files are those of `sha256sum`, which takes lines with `#` for comments: `sha256sum --check MANIFEST`
/// checks an archive without opbench.
package struct ArchiveManifest {
  static let name = "MANIFEST"
  private static let head = "# opbench-archive "
  static let version = 1

  /// A file that follows from the rows.
  struct Table {
    let file: String
    /// The words behind `opbench` that print the file, from the folder of the archive.
    let command: [String]
  }

  var tables: [Table] = []
  /// The checksums, by the path from the folder of the archive.
  var files: [String: String] = [:]

  init() {}

  /// Throws one line when the text is no manifest of this version.
  package init(_ text: String, of archive: String) throws {
    func wrong(_ words: String) -> Complaint { Complaint(.badInput, "\(archive): its \(Self.name) \(words)") }
    var lines = text.split(separator: "\n").map(String.init)[...]
    guard let first = lines.popFirst(), first.hasPrefix(Self.head) else {
      throw wrong("does not begin with '\(Self.head)\(Self.version)'")
    }
    let version = first.dropFirst(Self.head.count)
    guard version == "\(Self.version)" else {
      throw wrong("has version \(version), and this opbench reads version \(Self.version)")
    }
    for line in lines {
      if line.hasPrefix("# table "), let colon = line.firstRange(of: ": ") {
        let file = String(line[..<colon.lowerBound].dropFirst("# table ".count))
        tables.append(Table(file: file, command: line[colon.upperBound...].split(separator: " ").map(String.init)))
      } else if let file = Self.file(line), files.updateValue(file.checksum, forKey: file.path) == nil {
        continue
      } else {
        throw wrong("has a line that is no file, no table, or there twice: '\(line)'")
      }
    }
    if let table = tables.first(where: { $0.command.first != "compare" }) {
      throw wrong("has the table \(table.file) made by '\(table.command.first ?? "")', and a table is made by compare")
    }
  }

  private static func file(_ line: String) -> (checksum: String, path: String)? {
    let checksum = line.prefix(64)
    let path = line.dropFirst(66)
    guard checksum.count == 64, checksum.allSatisfy(\.isHexDigit), line.dropFirst(64).hasPrefix("  "), !path.isEmpty
    else { return nil }
    return (String(checksum), String(path))
  }

  package var text: String {
    let head = Self.head + "\(Self.version)"
    let tables = tables.map { "# table \($0.file): \($0.command.joined(separator: " "))" }
    let files = files.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)" }
    return ([head] + tables + files).map { $0 + "\n" }.joined()
  }
}
