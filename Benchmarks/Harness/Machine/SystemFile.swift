import FoundationEssentials

/// Files in which the kernel reports; any of them may be absent in a container.
enum SystemFile {
  /// The text without the white space around it, or nil when it cannot be read.
  static func read(_ path: String) -> String? {
    // Sizes under /proc are zero, which `FileManager.contents` copes with.
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    return trimmed.isEmpty ? nil : String(trimmed)
  }
}
