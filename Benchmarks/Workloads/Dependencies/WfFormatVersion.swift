import FoundationEssentials

/// The version of WfFormat that a file is in. The file says it, or its shape tells; only one version is read.
struct WfFormatVersion: Decodable {
  /// What `WfFormat` reads.
  static let read = "1.5"

  /// Such as `1.4`.
  let name: String

  /// Nil when the file tells neither.
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
      // Until 1.4 graph and runtimes stood in one list.
      let workflow = try document.nestedContainer(keyedBy: WorkflowKeys.self, forKey: .workflow)
      guard !workflow.contains(.specification), workflow.contains(.tasks) || workflow.contains(.jobs) else {
        throw DecodingError.dataCorruptedError(
          forKey: .workflow, in: document, debugDescription: "it is of no known version")
      }
      name = "1.4 or older"
    }
  }
}
