import FoundationEssentials
import HarnessMeasuring

/// A program of this package. It lies beside the tests in the build folder.
package enum BuiltProgram {
  package static func path(_ name: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let tests = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? own
    return tests.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/\(name)"
  }
}

/// The program `opbench`.
package enum BuiltOpbench {
  package static let path = BuiltProgram.path("opbench")

  /// Additions to the environment: no block counts as disturbed, whatever other guests do on this machine.
  package static let onQuietMachine = [SystemLoad.ticksVariable: "/dev/null"]

  package static func run(_ arguments: String...) -> (code: Int32?, output: [String], lastWords: String?) {
    let outcome = ProcessRunner.run(path, arguments, environment: onQuietMachine, timeout: 300)
    guard case .exited(let code) = outcome.ending else { return (nil, outcome.lines, outcome.lastWords) }
    return (code, outcome.lines, outcome.lastWords)
  }
}
