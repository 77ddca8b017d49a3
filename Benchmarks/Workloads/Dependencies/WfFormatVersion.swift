import FoundationEssentials

/// The version of WfFormat in which a file is written. The file names its version, or its shape shows the version. Only
/// one version can be read.
struct WfFormatVersion: Decodable {
  /// The version that `WfFormat` reads.
  static let read = "1.5"

  /// The name of the version, such as `1.4`.
  let name: String

  /// Nil when neither the file's version field nor its shape tells the version.
  init?(_ data: Data) {
    guard let version = try? JSONDecoder().decode(Self.self, from: data) else { return nil }
    self = version
  }

  private enum CodingKeys: String, CodingKey {
    case schemaVersion, workflow
  }

  private enum WorkflowKeys: String, CodingKey {
    case tasks, jobs, specification
  }

  init(from decoder: any Decoder) throws {
    let document = try decoder.container(keyedBy: CodingKeys.self)
    if let text = try? document.decode(String.self, forKey: .schemaVersion), !text.isEmpty {
      name = String(text.prefix(20))
    } else if let number = try? document.decode(Double.self, forKey: .schemaVersion) {
      name = "\(number)"
    } else {
      // Until 1.4, graph and runtimes were in one list.
      let workflow = try document.nestedContainer(keyedBy: WorkflowKeys.self, forKey: .workflow)
      guard !workflow.contains(.specification), workflow.contains(.tasks) || workflow.contains(.jobs) else {
        throw DecodingError.dataCorruptedError(
          forKey: .workflow, in: document, debugDescription: "it is of no known version")
      }
      name = "1.4 or older"
    }
  }
}
