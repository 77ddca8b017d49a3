import ArgumentParser
import Glibc
import Harness

/// Runs a command line: complaints become one line and an exit code of sysexits.h.
package enum CommandLineProgram {
  /// - Parameter check: complains about the program itself, before anything else is done.
  package static func run<Program: SuiteProgram>(
    _ root: (some ParsableCommand).Type, named name: String, measuring program: Program.Type,
    check: () throws -> Void = {}
  ) {
    do {
      try check()
      let arguments = CommandLine.arguments.dropFirst()
      // A run starts thousands of measuring processes, and the parser would take a fifth of the time that each takes to
      // start.
      if arguments.count == 2, arguments.first == "measure", let request = arguments.last, !request.hasPrefix("-") {
        try MeasureCommand<Program>.measure(request, program.suite)
      }
      try checkCommand(CommandLine.arguments.dropFirst().first, of: root)
      var command = try root.parseAsRoot()
      try command.run()
    } catch let complaint as Complaint {
      fail(name, complaint.description, code: complaint.code.rawValue)
    } catch let code as ExitCode {
      Glibc.exit(code.rawValue)
    } catch {
      // Asking for help is no mistake, and the help text is long. Any other error gets one line.
      if root.exitCode(for: error) == .success { root.exit(withError: error) }
      fail(name, root.message(for: error), code: Complaint.Code.usage.rawValue)
    }
  }

  /// Reports a word that is no subcommand in the place of one. The parser would call the word an unexpected argument of
  /// the default subcommand.
  private static func checkCommand(_ word: String?, of root: (some ParsableCommand).Type) throws {
    let commands = root.configuration.subcommands
    guard let word, !word.hasPrefix("-"), !commands.isEmpty else { return }
    func name(_ command: any ParsableCommand.Type) -> String {
      command.configuration.commandName ?? "\(command)".lowercased()
    }
    guard word != "help", !commands.contains(where: { name($0) == word }) else { return }
    let shown = commands.filter { $0.configuration.shouldDisplay }.map(name)
    throw Complaint(.usage, "there is no command '\(word)'\(Suggestion.words(for: word, among: shown))")
  }

  private static func fail(_ name: String, _ message: String, code: Int32) -> Never {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    try? ResultFiles.write("\(name): \(line)\n", to: STDERR_FILENO, name: "standard error")
    Glibc.exit(code)
  }
}
