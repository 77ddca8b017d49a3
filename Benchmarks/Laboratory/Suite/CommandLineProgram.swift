import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessWords

/// Runs a command line: complaints become one line and an exit code of sysexits.h.
package enum CommandLineProgram {
  /// - Parameter check: complains about the program itself, before anything else is done.
  package static func run<Program: SuiteProgram>(
    _ root: (some ParsableCommand).Type, measuring program: Program.Type,
    check: () throws -> Void = {}
  ) {
    StandardOutput.keepNumbers()
    do {
      let arguments = CommandLine.arguments.dropFirst()
      // A run starts thousands of measuring processes, and the parser would take a fifth of the time that each takes to
      // start. Before anything of the program runs, standard output is for results only.
      if arguments.count == 2, arguments.first == "measure", let request = arguments.last, !request.hasPrefix("-") {
        let channel = try ResultChannel()
        try check()
        try MeasureCommand<Program>.measure(request, program.suite, channel)
      }
      try check()
      try checkCommand(arguments, of: root, program.suite)
      var command = try root.parseAsRoot()
      try command.run()
    } catch let complaint as Complaint {
      fail(complaint.description, code: complaint.code.rawValue)
    } catch let code as ExitCode {
      Glibc.exit(code.rawValue)
    } catch {
      // Asking for help is no mistake, and the help text is long. Any other error gets one line.
      if root.exitCode(for: error) == .success { root.exit(withError: error) }
      fail(root.message(for: error), code: Complaint.Code.usage.rawValue)
    }
  }

  /// Reports a word that is no subcommand in the place of one, also behind `help`. The parser would call the word an
  /// unexpected argument of the default subcommand, and would help with another command.
  private static func checkCommand(
    _ arguments: ArraySlice<String>, of root: (some ParsableCommand).Type, _ suite: @autoclosure () -> any Suite
  ) throws {
    let commands = root.configuration.subcommands
    func name(_ command: any ParsableCommand.Type) -> String {
      command.configuration.commandName ?? "\(command)".lowercased()
    }
    let named = arguments.first == "help" ? arguments.dropFirst() : arguments
    guard let word = named.first, !word.hasPrefix("-"), !commands.isEmpty,
      !commands.contains(where: { name($0) == word })
    else { return }
    guard word != "help" else { return }
    let shown = commands.filter { $0.configuration.shouldDisplay }.map(name)
    let isCommand = Suggestion.closest(to: word, among: shown) != nil
    let words = isCommand ? nil : advice(word, suite())
    throw Complaint(.usage, "there is no command '\(word)'\(words ?? Suggestion.words(for: word, among: shown))")
  }

  /// What to do with a word that names something else than a command; nil for a word that names nothing.
  private static func advice(_ word: String, _ suite: any Suite) -> String? {
    // A program with one subject has no choice of subjects.
    let subjects = suite.subjects.map(\.name)
    if subjects.count > 1, subjects.contains(word) {
      return "; \(ProgramName.own) run \(suite.subjectOption) \(word) measures that subject"
    }
    return Suggestion.benchmark(for: word, among: suite.benchmarkNames).map { name in
      name == word
        ? "; \(ProgramName.own) run --benchmark \(word) measures what has that name"
        : "; did you mean \(ProgramName.own) run --benchmark \(name)?"
    }
  }

  /// A message of the parser may be a line and a list of values below it.
  private static func oneLine(_ message: String) -> String {
    let lines = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }
    let items = lines.filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }
    return (lines.filter { !$0.hasPrefix("- ") } + [items.joined(separator: ", ")[...]]).filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  /// Writes one line, which is broken only where a terminal would break it in the middle of words.
  private static func fail(_ message: String, code: Int32) -> Never {
    let line = "\(ProgramName.own): " + Printable.name(oneLine(message))
    let text =
      isatty(STDERR_FILENO) == 1
      ? WrappedText.text(line, width: TextWidth.columns(of: STDERR_FILENO), hanging: 2) : line
    try? DescriptorOutput.write(text + "\n", to: STDERR_FILENO, name: "standard error")
    Glibc.exit(code)
  }
}
