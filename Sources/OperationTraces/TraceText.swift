/// JSON, piece by piece: bytes that go to a file when there are many, or stay here.
struct TraceText {
  private var bytes: [UInt8] = []
  private let flush: (([UInt8]) throws -> Void)?
  private static let piece = 1 << 16

  /// - Parameter flush: takes the bytes that have gathered. Without `flush` all bytes stay, for `string`.
  init(flush: (([UInt8]) throws -> Void)? = nil) { self.flush = flush }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ text: String) throws {
    bytes.append(contentsOf: text.utf8)
    if bytes.count >= Self.piece { try finish() }
  }

  /// Hands over the bytes that are left.
  mutating func finish() throws {
    guard let flush else { return }
    try flush(bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  // MARK: - Values

  /// A string as JSON writes it, in quotes.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Nanoseconds as microseconds, the format's unit, with all digits.
  static func microseconds(_ nanoseconds: UInt64) -> String {
    let rest = String(nanoseconds % 1_000)
    return "\(nanoseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
