import Glibc
import LaboratorySupport
import Testing

@testable import HarnessWords

/// Who is at the other end of standard output.
struct StandardOutputTests {
  private func withPipe<Result>(_ body: (Int32) throws -> Result) throws -> Result {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    return try body(ends[1])
  }

  private func withFile<Result>(_ body: (Int32) throws -> Result) throws -> Result {
    let folder = TemporaryFolder()
    let file = open("\(folder.path)/out", O_WRONLY | O_CREAT, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    return try body(file)
  }

  @Test func aFileOrAProgramTakesTheRows() throws {
    try withPipe { pipe in
      try withFile { file in
        for isCI in [false, true] {
          #expect(StandardOutput(output: file, error: pipe, isContinuousIntegration: isCI) == .rows)
        }
        #expect(StandardOutput(output: pipe, error: file, isContinuousIntegration: false) == .rows)
        try withPipe { other in
          #expect(StandardOutput(output: pipe, error: other, isContinuousIntegration: false) == .rows)
        }
      }
    }
  }

  @Test func whatGoesWhereTheMessagesGoIsRead() throws {
    try withPipe { pipe in
      #expect(StandardOutput(output: pipe, error: pipe, isContinuousIntegration: false) == .log)
      let copy = dup(pipe)
      defer { close(copy) }
      #expect(StandardOutput(output: pipe, error: copy, isContinuousIntegration: false) == .log)
    }
    try withFile { file in
      #expect(StandardOutput(output: file, error: file, isContinuousIntegration: false) == .log)
    }
  }

  @Test func continuousIntegrationReadsItsPipes() throws {
    try withPipe { pipe in
      try withPipe { other in
        #expect(StandardOutput(output: pipe, error: other, isContinuousIntegration: true) == .log)
      }
    }
  }

  @Test func aTerminalIsATerminalWhereverTheMessagesGo() throws {
    var master: Int32 = 0
    var terminal: Int32 = 0
    try #require(openpty(&master, &terminal, nil, nil, nil) == 0)
    defer {
      close(master)
      close(terminal)
    }
    for error in [terminal, -1] {
      #expect(StandardOutput(output: terminal, error: error, isContinuousIntegration: true) == .terminal)
    }
  }

  @Test func whatCannotBeWrittenIsClosed() throws {
    #expect(StandardOutput(output: -1, error: 2, isContinuousIntegration: false) == .closed)
    let nothing = open("/dev/null", O_RDONLY)
    defer { close(nothing) }
    #expect(StandardOutput(output: nothing, error: 2, isContinuousIntegration: false) == .closed)
  }
}
