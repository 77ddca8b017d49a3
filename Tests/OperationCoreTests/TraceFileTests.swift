import FoundationEssentials
import TestSupport
import Testing

@testable import OperationCore

struct TraceFileTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/trace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  private func read(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func twoWritersOfOneFile() throws {
    try withFolder { folder in
      let path = folder + "/t.json"
      // Enough to be written in pieces.
      let long = String(repeating: "long ", count: 40_000)
      try TraceFile.replace(path) { text in
        try text.append(long)
        let isWritten = Gate()
        startThread {
          try? TraceFile.replace(path) { try $0.append("short") }
          isWritten.open()
        }
        try isWritten.wait("the other writer")
        #expect(read(path) == "short")
        try text.append("end")
      }
      #expect(read(path) == long + "end")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["t.json"])
    }
  }

  @Test func oneThatFails() throws {
    struct Failure: Error {}
    try withFolder { folder in
      let path = folder + "/t.json"
      try TraceFile.replace(path) { try $0.append("earlier") }
      #expect(throws: Failure.self) {
        try TraceFile.replace(path) { text in
          try text.append("half")
          throw Failure()
        }
      }
      #expect(throws: OperationTraceError.self) { try TraceFile.replace(folder) { try $0.append("a folder") } }
      #expect(read(path) == "earlier")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["t.json"])
    }
  }
}
