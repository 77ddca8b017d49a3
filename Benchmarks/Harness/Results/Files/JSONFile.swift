import FoundationEssentials
import HarnessWords

/// The form of the JSON files that the laboratory keeps: sorted keys in snake case, indented. A list of numbers or
/// texts stands on one line.
package enum JSONFile {
  /// Throws one line when the data have another form. `path` is the name of the file in error messages.
  package static func content<Content: Decodable>(
    _ data: Data, _ path: String, as type: Content.Type, what: String
  ) throws -> Content {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do { return try decoder.decode(type, from: data) } catch {
      throw Complaint(.badInput, "\(path) is not \(what)")
    }
  }

  /// - Parameter isCompact: whether spaces and lines are left out, for programs alone.
  package static func text(_ content: some Encodable, isCompact: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if !isCompact { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let text = String(decoding: try encoder.encode(content), as: UTF8.self) + "\n"
    return isCompact ? text : withListsOnOneLine(text)
  }

  private static func withListsOnOneLine(_ text: String) -> String {
    var lines: [Substring] = []
    // Where the list begins that may go on: a line that opens something else ends that.
    var opening: Int?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.drop { $0 == " " }
      if let begin = opening, words.first == "]", begin + 1 < lines.count {
        let items = lines[(begin + 1)...].map { String($0.drop { $0 == " " }) }.joined(separator: " ")
        lines.replaceSubrange(begin..., with: [lines[begin] + items + words])
        opening = nil
        continue
      }
      if line.hasSuffix("[") {
        opening = lines.count
      } else if words.isEmpty || "{}[]".contains(line.last!) {
        opening = nil
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }
}
