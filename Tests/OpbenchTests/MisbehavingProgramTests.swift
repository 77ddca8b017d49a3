import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// The gate against programs that misbehave: one line, the right exit code, little memory, and an end.
@Suite(.ownThread) struct MisbehavingProgramTests {
  let folder = TemporaryFolder()
  static let program = BuiltOpbench.path
  static let gate = ["gate", "--tiers", "2", "--benchmark", "local-add", "--base"]

  /// A program that offers what opbench offers to the gate, and then does something else.
  private func program(_ text: String, in folder: TemporaryFolder) -> String {
    let offer = "[ \"$2\" != suite ] || exec \(Self.program) measure suite"
    let path = folder.write("#!/bin/sh\n\(offer)\n\(text)\n", to: "program")
    chmod(path, 0o755)
    return path
  }

  private func shell(_ script: String, _ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run("sh", ["-c", script, Self.program] + arguments, timeout: 120)
  }

  /// Runs a body, and kills the process whose number the program has written.
  private func endingDaemon(of folder: TemporaryFolder, _ body: () throws -> Void) rethrows {
    defer { if let daemon = folder.read("daemon").flatMap({ pid_t($0.dropLast()) }) { kill(daemon, SIGKILL) } }
    try body()
  }

  /// Lets a daemon hold the output, and waits until the daemon runs.
  private func daemon(_ folder: TemporaryFolder) -> String {
    let file = "\(folder.path)/daemon"
    return "setsid sh -c 'echo $$ > \(file); exec sleep 1000' & until [ -s \(file) ]; do sleep 0.01; done"
  }

  /// With less memory than the output of a second would need.
  @Test func printsForEver() throws {
    let script = "ulimit -v 4000000; exec \"$0\" \"$@\" 2>&1"
    let asked = shell(script, ["gate", "--base", "/usr/bin/yes"])
    #expect(asked.ending == .exited(65) && asked.lines.count == 1, "\(asked)")
    #expect(asked.lines.first?.contains("it printed more than 16 MiB and was killed") == true, "\(asked)")
    let later = shell(script, Self.gate + [program("exec yes", in: folder)])
    #expect(later.ending == .exited(69), "\(later)")
    #expect(later.lines.last?.contains("the base cannot be measured: base: the process printed more than") == true)
  }

  @Test func aDaemonKeepsTheOutput() throws {
    endingDaemon(of: folder) {
      let outcome = shell("exec \"$0\" \"$@\" 2>&1", Self.gate + [program(daemon(folder) + "; exit 9", in: folder)])
      #expect(outcome.ending == .exited(69), "\(outcome)")
      #expect(outcome.lines.contains { $0.contains("base: ") && $0.contains("went on") }, "\(outcome)")
      #expect(outcome.lines.last?.contains("ended with exit code 9") == true, "\(outcome)")
    }
  }

  /// The child hangs, and its daemon outlives the child.
  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalEndsTheGate(signal: Int32) throws {
    try endingDaemon(of: folder) {
      let script = """
        "$0" "$@" & gate=$!
        i=0
        until [ -s \(folder.path)/daemon ]; do i=$((i + 1)); [ $i -lt 3000 ] || exit 99; sleep 0.02; done
        kill -\(signal) $gate; wait $gate
        """
      let outcome = shell(script, Self.gate + [program(daemon(folder) + "; sleep 1000", in: folder)])
      #expect(outcome.ending == .exited(130), "\(outcome)")
      #expect(outcome.lastWords?.contains("nothing is concluded") == true, "\(outcome)")
      let left = try #require(folder.read("daemon").flatMap { pid_t($0.dropLast()) })
      #expect(kill(left, 0) == 0, "the gate has waited for the daemon")
    }
  }
}
