import FoundationEssentials
import HarnessWords

/// A file that a user names.
enum InputFile {
  /// Throws one line when there is no such file, and when it cannot be read.
  /// - Parameter what: what the file is to be, such as "graph".
  static func read(_ path: String, what: String) throws -> Data {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Complaint(.noInput, "\(path): there is no such \(what) file")
    }
    guard !isFolder, let data = FileManager.default.contents(atPath: path) else {
      throw Complaint(.badInput, "\(path): cannot be read as a file")
    }
    return data
  }
}
