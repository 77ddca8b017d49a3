import Glibc
import HarnessWords

/// One line on standard error that says what runs and how long the rest takes. On a terminal the line is rewritten in
/// place; elsewhere a line is written every ten seconds.
package final class Progress {
  private let isTerminal = isatty(2) == 1
  private var lastLine: UInt64 = 0
  private var isLineOpen = false

  package init() {}

  package func show(done: Int, total: Int, what: String, secondsLeft: Double) {
    let now = Clock.now()
    let percent = total == 0 ? 100 : done * 100 / total
    let line = Printable.name("[\(padded(percent))%] \(Self.duration(secondsLeft)) left  \(what)")
    if isTerminal {
      Self.write("\r\u{1b}[2K" + TextWidth.cut(line, to: Self.terminalWidth - 1))
      isLineOpen = true
    } else if lastLine == 0 || now - lastLine >= 10_000_000_000 {
      Self.write(line + "\n")
      lastLine = now
    }
  }

  /// Writes a line that stays.
  package func say(_ line: String) {
    clear()
    Self.write("\(ProgramName.own): \(Printable.name(line))\n")
  }

  package func clear() {
    if isLineOpen { Self.write("\r\u{1b}[2K") }
    isLineOpen = false
  }

  package static func duration(_ seconds: Double) -> String {
    let total = Int(seconds.rounded(.up))
    return total < 60 ? "\(total)s" : "\(total / 60)m \(total % 60)s"
  }

  private func padded(_ percent: Int) -> String {
    String(repeating: " ", count: max(0, 3 - "\(percent)".count)) + "\(percent)"
  }

  private static var terminalWidth: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
  }

  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
  }
}
