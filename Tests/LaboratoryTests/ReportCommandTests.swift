import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessWords
@testable import Laboratory

/// `opbench report` hands over to `scripts/plot`, whose own tests are in Tests/ReportTests.
struct ReportCommandTests {
  @Test func findsTheScriptOfItsCheckout() throws {
    #expect(try ReportCommand.script() == Checkout.path("scripts/plot"))
    // A checkout that was moved after the build: the program still lies in it.
    let moved = try TemporaryFolder()
    let program = "\(moved.path)/.build/x86_64/debug/opbench"
    let script = "\(moved.path)/scripts/plot"
    for file in [program, script] {
      let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      _ = FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o755])
    }
    #expect(
      try ReportCommand.script(source: "/gone/Benchmarks/Laboratory/Compare/ReportCommand.swift", program: program)
        == script)
  }

  @Test func withoutACheckoutItSaysWhatToDo() {
    #expect {
      try ReportCommand.script(source: "/gone/Benchmarks/Laboratory/Compare/ReportCommand.swift", program: "/bin/sh")
    } throws: { error in
      let complaint = error as? Complaint
      return complaint?.code == .unavailable && complaint?.description.contains("/gone has none") == true
    }
  }
}
