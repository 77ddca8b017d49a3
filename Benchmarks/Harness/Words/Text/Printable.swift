/// Makes text out of files and of other programs safe to show. A control character could move a terminal's cursor or
/// change its title, and a character that turns the direction of writing could make a text read otherwise than it is.
package enum Printable {
  /// The text of a name: each such character is shown as its number, such as `\u{1B}`. A line break is one of them.
  package static func name(_ text: some StringProtocol) -> String { escaped(text) { _ in false } }

  /// A whole document, which keeps its line breaks and tabs.
  package static func document(_ text: String) -> String {
    escaped(text) { $0 == "\n" || $0 == "\r" || $0 == "\t" }
  }

  private static func escaped(_ text: some StringProtocol, keeping isKept: (Unicode.Scalar) -> Bool) -> String {
    guard text.unicodeScalars.contains(where: { isUnsafe($0) && !isKept($0) }) else { return String(text) }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if isUnsafe(scalar), !isKept(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // The marks that embed, override or isolate a direction.
    case .format:
      (0x200E...0x200F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
        || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }
}
