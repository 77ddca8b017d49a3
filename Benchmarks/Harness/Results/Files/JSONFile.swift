import FoundationEssentials
import HarnessWords

/// The form of the JSON files that the laboratory keeps: sorted keys in snake case, indented.
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

  package static func text(_ content: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(content), as: UTF8.self) + "\n"
  }
}
