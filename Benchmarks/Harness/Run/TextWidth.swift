import Glibc

/// How many columns a text may take where it is shown.
package enum TextWidth {
  /// Of a terminal that does not say.
  package static let usualTerminal = 100
  /// Where there is no terminal: a file or a pipe.
  package static let file = 120
  /// Nothing is laid out for less.
  package static let least = 40

  /// What the terminal says, or else the variable COLUMNS.
  package static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    let told = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    return columns(
      isTerminal: isatty(descriptor) == 1, told: told, asked: getenv("COLUMNS").map { String(cString: $0) })
  }

  /// `told` is zero where the terminal does not know. Who exports COLUMNS means it, wherever the text goes.
  static func columns(isTerminal: Bool, told: Int, asked: String?) -> Int {
    let usual = isTerminal ? usualTerminal : file
    let columns = told > 0 ? told : asked.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? usual
    return max(least, columns)
  }
}
