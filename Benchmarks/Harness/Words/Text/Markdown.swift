/// Text in Markdown tables.
package enum Markdown {
  /// Escapes the characters that would end a cell or begin a tag.
  package static func escaped(_ text: String) -> String {
    Printable.name(text.split(whereSeparator: \.isNewline).joined(separator: " ")).map { character in
      switch character {
      case "|": "\\|"
      case "<": "&lt;"
      default: String(character)
      }
    }.joined()
  }

  /// A name as code. A backtick in the name would end the code.
  package static func code(_ name: String) -> String { "`\(Printable.name(name.replacing("`", with: "'")))`" }

  /// One row of a table; the cells are escaped.
  package static func row(_ cells: [String]) -> String { "| " + cells.map(escaped).joined(separator: " | ") + " |" }
}
