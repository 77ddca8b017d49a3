/// Breaks a text into lines no longer than a width: at spaces, and behind a `;`.
package enum WrappedText {
  /// `indent` is the indent of the first line, `hanging` the indent of the other lines.
  package static func lines(_ text: String, width: Int, indent: Int = 0, hanging: Int = 0) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    for word in pieces(text) {
      // A word at the beginning of a line loses the space in front of the word.
      let fits = TextWidth.of(line) + TextWidth.of(trimmed(word)) <= width
      if !isEmpty, !fits {
        lines.append(trimmed(line))
        line = String(repeating: " ", count: hanging)
        isEmpty = true
      }
      line += isEmpty ? String(word.drop { $0 == " " }) : word
      isEmpty = false
    }
    return lines + [trimmed(line)]
  }

  package static func text(_ text: String, width: Int, indent: Int = 0, hanging: Int = 0) -> String {
    lines(text, width: width, indent: indent, hanging: hanging).joined(separator: "\n")
  }

  /// The pieces between which a line may break. Each begins with the spaces before it. An interval, `[1.0, 2.0]`, and
  /// `5 %` stay whole.
  private static func pieces(_ text: String) -> [String] {
    var pieces: [String] = []
    var piece = ""
    var isInInterval = false
    for place in text.indices {
      let character = text[place]
      if character == "[" { isInInterval = isInterval(text[text.index(after: place)...]) }
      if character == "]" { isInInterval = false }
      let isBeforePercent = text[text.index(after: place)...].first == "%"
      if character == " ", !isInInterval, !isBeforePercent, !piece.allSatisfy({ $0 == " " }) {
        pieces.append(piece)
        piece = " "
        continue
      }
      piece.append(character)
      if character == ";", !isInInterval {
        pieces.append(piece)
        piece = ""
      }
    }
    return piece.isEmpty ? pieces : pieces + [piece]
  }

  /// Whether there are only numbers before the bracket closes.
  private static func isInterval(_ rest: Substring) -> Bool {
    guard let end = rest.firstIndex(of: "]") else { return false }
    return rest[..<end].allSatisfy { $0.isNumber || ",. -+e".contains($0) }
  }

  package static func trimmed(_ line: String) -> String { String(line.reversed().drop { $0 == " " }.reversed()) }
}
