#if HTTP
  import FoundationEssentials
  import Testing

  @testable import ImagePipelineTool

  struct ListTests {
    private func addresses(of list: [UInt8]) throws -> [String] {
      let file = FileManager.default.temporaryDirectory.appending(path: "list-\(UUID().uuidString)")
      try Data(list).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      return try ImagePipelineTool.parse(["--list", file.path]).addresses()
    }

    @Test func aListWithAByteOrderMark() throws {
      let text = Array("http://h/1\r\n# no address\r\n\r\nhttps://user:word@h:8080/2\n".utf8)
      let wanted = ["http://h/1", "https://user:word@h:8080/2"]
      #expect(try addresses(of: text) == wanted)
      #expect(try addresses(of: [0xEF, 0xBB, 0xBF] + text) == wanted)
      #expect(try addresses(of: [0xEF, 0xBB, 0xBF] + Array("# first\nhttp://h/1".utf8)) == ["http://h/1"])
    }

    @Test func aListWithLinesThatAreNoAddresses() throws {
      let text = "http://h/1\nhttp://127.0.0.1:99999/x\nhttp://[\nhttp://user:word@h:0/\n"
      let error = #expect(throws: Failure.self) { try addresses(of: Array(text.utf8)) }
      #expect(error?.code == 65)
      #expect(
        error?.line.contains(
          "line 2 'http://127.0.0.1:99999/x', line 3 'http://[', line 4 'http://…@h:0/': no address") == true)
    }

    @Test func fields() throws {
      let tool = try ImagePipelineTool.parse(["http://h/1", "--field", "Referer: https://h/a", "--field", "X-Y:1"])
      #expect(try tool.fields() == ["referer": "https://h/a", "x-y": "1"])
      for odd in ["Referer", ": x", "a b: c", "a: b\r\nc: d"] {
        let error = #expect(throws: Failure.self) {
          try ImagePipelineTool.parse(["http://h/1", "--field", odd]).fields()
        }
        #expect(error?.code == 64)
      }
    }
  }
#endif
