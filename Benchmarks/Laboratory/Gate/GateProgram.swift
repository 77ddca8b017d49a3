import FoundationEssentials
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessWords

/// A program that speaks the protocol of measuring processes: `PROGRAM measure REQUEST`.
package struct GateProgram: Sendable {
  package let path: String
  /// The suite that the program offers to the gate.
  package let suite: GateSuite

  /// Asks the program for its suite. Throws one line when there is no such program, or when it is a program of another
  /// kind.
  package init(_ name: String, option: String) throws {
    // A name without a slash would be looked up on the path.
    let path = name.contains("/") ? name : "./\(name)"
    self.path = path
    guard access(path, F_OK) == 0 else { throw Complaint(.noInput, "\(option): there is no program \(name)") }
    var status = stat()
    guard access(path, X_OK) == 0, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Complaint(.noInput, "\(option): \(name) cannot be executed")
    }
    let outcome = ProcessRunner.run(
      path, ["measure", GateSuite.request], environment: ProcessRunner.withoutBacktrace, timeout: 10)
    if outcome.ending == .interrupted { try GateInvocation.stopIfInterrupted() }
    if outcome.ending == .exited(0), let suite = GateSuite(outcome.lines) {
      self.suite = suite
      return
    }
    if let number = Self.protocolNumber(outcome) {
      let (age, advice) =
        number < GateSuite.protocolNumber
        ? ("older", "build it from a revision that speaks \(GateSuite.protocolNumber) too")
        : ("newer", "use the gate of the newer program")
      throw Complaint(
        .badInput,
        "\(option): \(name) speaks protocol \(number) of measuring processes, which is \(age) than this gate's "
          + "\(GateSuite.protocolNumber): \(advice)")
    }
    let words = outcome.lastWords.map { ", its last words: \($0.prefix(200))" } ?? ""
    throw Complaint(
      .badInput,
      "\(option): \(name) is neither opbench nor a program made with Laboratory: asked what it offers to the gate, "
        + "it \(outcome.ending.description)\(words)")
  }

  /// The protocol number of a program that speaks another protocol than this program; nil for any other kind of
  /// program.
  private static func protocolNumber(_ outcome: ProcessOutcome) -> Int? {
    if outcome.ending == .exited(0), let number = GateSuite.protocolNumber(of: outcome.lines),
      number != GateSuite.protocolNumber
    {
      return number
    }
    // An opbench that is too old to offer a suite ends in this way.
    return outcome.ending == .exited(64) && outcome.lastWords?.contains("measure takes the request") == true ? 0 : nil
  }

  /// The path of this program. `/proc/self/exe` would not do, because another program, such as valgrind, would find its
  /// own path there.
  package static let own: String = {
    let link = "/proc/self/exe"
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    return path.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil } ?? link
  }()

  package var build: String { suite.build }

  /// The program as a base or a head, with additions to its environment.
  package func arm(_ name: String, _ environment: [String: String] = [:]) -> GateArm {
    GateArm(name, program: path, environment: environment)
  }
}
