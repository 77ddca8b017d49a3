import Glibc

/// The number of columns that a text may take where the text is shown.
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
