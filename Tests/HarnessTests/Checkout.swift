import FoundationEssentials

/// Files of the checkout that the tests were built from.
enum Checkout {
  /// Tests/HarnessTests/Checkout.swift lies three levels below.
  static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

  static func path(_ relative: String) -> String { "\(root)/\(relative)" }
}

/// A folder that is gone when the test is over.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/opbench-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }

  func write(_ text: String, to name: String) -> String {
    let file = "\(path)/\(name)"
    _ = FileManager.default.createFile(atPath: file, contents: Data(text.utf8))
    return file
  }

  func read(_ name: String) -> String? {
    FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
  }
}
