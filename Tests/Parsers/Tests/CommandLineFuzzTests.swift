import ArgumentParser
import FoundationEssentials
import Glibc
import ParserEngine
import TestSupport
import Testing

@testable import opbench

/// Any command line is understood, or one line says what is wrong with it. Nothing is run.
@Suite struct CommandLineFuzzTests {
  /// `scripts/hunt/fuzz-parsers` asks for more, of an optimised build: it takes a hundredth of a second for each
  /// otherwise.
  static let inputs = getenv("OPBENCH_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 60

  @Test func `arguments are parsed or complained about`() {
    var random = RandomArguments(seed: 1)
    var understood = 0
    for _ in 0..<Self.inputs {
      let arguments = random.next()
      do {
        _ = try Opbench.parseAsRoot(arguments)
        understood += 1
      } catch {
        let isHelp = Opbench.exitCode(for: error) == .success
        let message = isHelp ? Opbench.fullMessage(for: error) : Self.oneLine(Opbench.message(for: error))
        let objection = isHelp ? (message.isEmpty ? "no help" : nil) : Reader.objection(to: message)
        if let objection { Issue.record("\(arguments): \(objection)") }
      }
    }
    // Otherwise the arguments are too odd to reach what checks values.
    #expect(understood > Self.inputs / 50, "\(understood) of \(Self.inputs) were understood")
  }

  /// As the program prints it.
  private static func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
