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
    let moved = TemporaryFolder()
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

  /// A program outside of the checkout leaves the checkout alone: the environment goes to the user's cache.
  @Test func theEnvironmentOfAProgramElsewhereIsInTheUsersCache() throws {
    let script = Checkout.path("scripts/plot")
    func folder(_ program: String, _ variables: [String: String]) throws -> String? {
      try ReportCommand.environments(script: script, program: program) { variables[$0] }
    }
    #expect(try folder(Checkout.path("Package.swift"), ["HOME": "/home/me"]) == nil)
    #expect(try folder("/bin/sh", ["HOME": "/home/me"]) == "/home/me/.cache/opbench")
    #expect(try folder("/bin/sh", ["HOME": "/home/me", "XDG_CACHE_HOME": "/cache"]) == "/cache/opbench")
    #expect(try folder("/bin/sh", ["HOME": "/home/me", "XDG_CACHE_HOME": "cache"]) == "/home/me/.cache/opbench")
    #expect(try folder("/bin/sh", ["OPBENCH_ENVIRONMENTS": "/here"]) == "/here")
    // A folder whose name only begins like that of the checkout is another one.
    let two = TemporaryFolder()
    for name in ["one", "one-more"] {
      try FileManager.default.createDirectory(atPath: "\(two.path)/\(name)", withIntermediateDirectories: true)
      _ = FileManager.default.createFile(atPath: "\(two.path)/\(name)/bench", contents: nil)
    }
    for (name, expected) in [("one", nil), ("one-more", "/home/me/.cache/opbench")] {
      #expect(
        try ReportCommand.environments(script: "\(two.path)/one/scripts/plot", program: "\(two.path)/\(name)/bench") {
          ["HOME": "/home/me"][$0]
        } == expected)
    }
    for variables in [[:], ["HOME": ""]] as [[String: String]] {
      #expect { try folder("/bin/sh", variables) } throws: { error in
        (error as? Complaint)?.code == .unavailable
          && (error as? Complaint)?.description.contains("OPBENCH_ENVIRONMENTS") == true
      }
    }
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
