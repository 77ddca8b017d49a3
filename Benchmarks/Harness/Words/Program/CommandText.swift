/// A command as a user writes it in a terminal: words with quotes, or anything that a shell understands.
package struct CommandText: Hashable, Sendable {
  package let text: String
  /// The program and its arguments; nil when only a shell can read the text.
  package let words: [String]?

  /// Throws one line when the text is empty or a quotation has no end.
  package init(_ text: String) throws(Complaint) {
    self.text = text
    guard text.contains(where: { !$0.isWhitespace }) else { throw Complaint(.usage, "a command is empty") }
    guard !text.unicodeScalars.contains("\0") else { throw Complaint(.usage, "a command holds a zero byte") }
    words = try Self.split(text)
  }

  /// The program and its arguments. `sh` reads the text when the words alone do not do, or when `throughShell` asks for
  /// that: of two commands that are compared both start in the same way.
  package func arguments(throughShell: Bool) -> [String] {
    guard !throughShell, let words else { return ["sh", "-c", text] }
    return words
  }

  /// What a shell gives a meaning of its own, outside of quotes.
  private static let special: Set<Character> = [
    "|", "&", ";", "<", ">", "(", ")", "$", "`", "*", "?", "[", "]", "{", "}", "~", "#", "!", "\n",
  ]

  /// The words of the text by the rules of the shell; nil when a character asks the shell for more than words.
  private static func split(_ text: String) throws(Complaint) -> [String]? {
    var words: [String] = []
    /// The word that has begun, which may be empty when it is quoted.
    var word: String?
    var quote: Character?
    var needsShell = false
    var rest = text[...]
    while let next = rest.popFirst() {
      switch (quote, next) {
      case ("'", "'"), ("\"", "\""): quote = nil
      case ("'", _): word = (word ?? "") + String(next)
      case ("\"", "\\"):
        if let escaped = rest.first, "\"\\$`".contains(escaped) {
          word = (word ?? "") + String(rest.removeFirst())
        } else {
          word = (word ?? "") + "\\"
        }
      case ("\"", _):
        if next == "$" || next == "`" { needsShell = true }
        word = (word ?? "") + String(next)
      case (_, "'"), (_, "\""):
        quote = next
        word = word ?? ""
      case (_, "\\"):
        guard let escaped = rest.popFirst() else { throw Complaint(.usage, "the command '\(text)' ends with a \\") }
        word = (word ?? "") + String(escaped)
      case (_, " "), (_, "\t"):
        if let word { words.append(word) }
        word = nil
      case (_, _):
        // `NAME=value` before a program sets a variable.
        if special.contains(next) || next == "=" && words.isEmpty { needsShell = true }
        word = (word ?? "") + String(next)
      }
    }
    if let quote { throw Complaint(.usage, "the command '\(text)' has a \(quote) that does not end") }
    if let word { words.append(word) }
    return needsShell || words[0].isEmpty ? nil : words
  }
}
