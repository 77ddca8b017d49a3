import DifferentialEngine
import Glibc

/// The programs beside this file, found where it was compiled.
enum Corpus {
  static func programs() throws -> [(name: String, program: Program)] {
    let folder = "\(#filePath.dropLast("Differential/Tests/Corpus.swift".count))Corpora/Differential"
    guard let directory = opendir(folder) else { throw CorpusError(description: "there is no folder \(folder)") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".program") { names.append(name) }
    }
    return try names.sorted().map { ($0, try Program(file: "\(folder)/\($0)")) }
  }
}

struct CorpusError: Error, CustomStringConvertible {
  let description: String
}
