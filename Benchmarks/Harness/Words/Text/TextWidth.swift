import Glibc

/// The number of columns that a text may take where the text is shown, and the number that a text does take.
package enum TextWidth {
  /// The width of a terminal that does not know its width.
  package static let usualTerminal = 100
  /// The width when there is no terminal, but a file or a pipe.
  package static let file = 120
  /// The least width for which a text is laid out.
  package static let least = 40

  /// The width that the terminal knows, or else the variable COLUMNS.
  package static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    let told = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    return columns(
      isTerminal: isatty(descriptor) == 1, told: told, asked: getenv("COLUMNS").map { String(cString: $0) })
  }

  /// `told` is zero when the terminal does not know its width. COLUMNS then counts wherever the text goes, because a
  /// user who exports COLUMNS wants that width.
  static func columns(isTerminal: Bool, told: Int, asked: String?) -> Int {
    let usual = isTerminal ? usualTerminal : file
    let columns = told > 0 ? told : asked.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? usual
    return max(least, columns)
  }
}

extension TextWidth {
  /// The columns that a terminal gives a text: two to a wide letter, such as those of Chinese and Japanese, and none to
  /// a mark that stands on the letter before it.
  package static func of(_ text: some StringProtocol) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
  }

  /// The text with as many spaces behind it as the width needs.
  package static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - of(text)))
  }

  /// The beginning of a text that fits into the width.
  package static func cut(_ text: String, to width: Int) -> Substring {
    var left = width
    return text.prefix {
      left -= columns(of: $0)
      return left >= 0
    }
  }

  private static func columns(of character: Character) -> Int {
    let scalars = character.unicodeScalars
    // U+FE0F asks for the coloured form of a sign, which is wide.
    if scalars.count > 1, scalars.contains("\u{FE0F}") { return 2 }
    return scalars.map(columns).max() ?? 0
  }

  private static func columns(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    // A soft hyphen is of this category, and terminals show it.
    case .format: return scalar == "\u{AD}" ? 1 : 0
    case .nonspacingMark, .enclosingMark, .control: return 0
    default: return wide.contains { $0.contains(scalar.value) } || scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }

  /// The blocks of Unicode whose letters are wide or of full width in the table EastAsianWidth.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6,
    0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]
}
