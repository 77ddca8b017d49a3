import FoundationEssentials

/// Reads files in which the kernel reports. Any of the files may be absent in a container.
package enum SystemFile {
  /// The text without the white space around it, or nil when it cannot be read.
  package static func read(_ path: String) -> String? {
    // Files under /proc have size zero, which `FileManager.contents` can read.
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    return trimmed.isEmpty ? nil : String(trimmed)
  }
}
