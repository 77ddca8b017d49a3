import ArgumentParser
import Glibc
import Harness

/// The command line: it parses, calls the harness, and turns complaints into one line and an exit code.
@main
struct Opbench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opbench",
    abstract: "Measures operation queues: our backends beside Foundation's OperationQueue and raw Dispatch.",
    subcommands: [Run.self, List.self, Compare.self, Validate.self, Report.self, Measure.self],
    defaultSubcommand: Run.self)

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let complaint as Complaint {
      fail(complaint.description, code: complaint.code.rawValue)
    } catch let code as ExitCode {
      Glibc.exit(code.rawValue)
    } catch {
      // Asking for help is no mistake, and its text is long; anything else gets one line.
      if exitCode(for: error) == .success { exit(withError: error) }
      fail(message(for: error), code: Complaint.Code.usage.rawValue)
    }
  }

  private static func fail(_ message: String, code: Int32) -> Never {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    try? ResultFiles.write("opbench: \(line)\n", to: STDERR_FILENO, name: "standard error")
    Glibc.exit(code)
  }
}
