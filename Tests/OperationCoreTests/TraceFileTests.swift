import CPlatform
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import OperationCore
@testable import OperationTraces

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

  @Test func `two writers of one file leave the file of one of them`() throws {
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

  @Test func `what has the new file's name is not written to`() throws {
    try withFolder { folder in
      let (path, other) = (folder + "/t.json", folder + "/precious")
      #expect(FileManager.default.createFile(atPath: other, contents: Data("precious".utf8)))
      let fresh = "\(path).\(cplatform_process_id()).\(cplatform_thread_id()).partial"
      #expect(symlink(other, fresh) == 0)
      try TraceFile.replace(path) { try $0.append("trace") }
      #expect(read(other) == "precious" && read(path) == "trace")
      // What a killed process left.
      #expect(FileManager.default.createFile(atPath: path + ".partial", contents: Data("half a trace".utf8)))
      try TraceFile.replace(path, beside: path + ".partial") { try $0.append("new") }
      #expect(read(path) == "new")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["precious", "t.json"])
      // A folder is left alone.
      try FileManager.default.createDirectory(atPath: path + ".partial", withIntermediateDirectories: false)
      #expect(throws: OperationTraceError.self) {
        try TraceFile.replace(path, beside: path + ".partial") { try $0.append("none") }
      }
      #expect(read(path) == "new")
    }
  }

  @Test func `links are followed and only files are replaced`() throws {
    func kind(_ path: String) -> mode_t? {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
    try withFolder { folder in
      #expect(symlink("t.json", folder + "/relative.json") == 0)
      #expect(symlink(folder + "/relative.json", folder + "/link.json") == 0)
      try TraceFile.replace(folder + "/link.json") { try $0.append("trace") }
      #expect(read(folder + "/t.json") == "trace")
      #expect(kind(folder + "/link.json") == S_IFLNK && kind(folder + "/relative.json") == S_IFLNK)
      #expect(mkfifo(folder + "/fifo", 0o600) == 0 && symlink("fifo", folder + "/to-fifo") == 0)
      // The twin of /dev/full, where this user may make one.
      var special = ["/fifo", "/to-fifo"]
      if mknod(folder + "/full", S_IFCHR | 0o600, 1 << 8 | 7) == 0 { special.append("/full") }
      for name in special {
        let before = kind(folder + name)
        #expect {
          try TraceFile.replace(folder + name) { try $0.append("trace") }
        } throws: { "\($0)".contains("no regular file") }
        #expect(kind(folder + name) == before)
      }
      #expect(symlink("circle", folder + "/circle") == 0)
      #expect(throws: OperationTraceError.self) { try TraceFile.replace(folder + "/circle") { try $0.append("") } }
      let names = ["t.json", "relative.json", "link.json", "circle"] + special.map { String($0.dropFirst()) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names.sorted())
    }
  }

  @Test func `a write that fails leaves the old file`() throws {
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
