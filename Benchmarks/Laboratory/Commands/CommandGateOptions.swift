import ArgumentParser
import FoundationEssentials
import HarnessGate
import HarnessWords

/// The options of `gate` that are for commands of any language.
package struct CommandGateOptions: ParsableArguments {
  @OptionGroup(title: "Commands of any language") package var commands: CommandOptions

  @Option(help: "Take --base and --head as git revisions, and build each with this command in a checkout of its own.")
  package var build: String?

  @Option(help: "With git revisions: the command that runs in the checkout of each.")
  package var run: String?

  @Option(
    parsing: .unconditional, help: "From which change on a time counts as moved (default: 2%).",
    transform: OptionNumber.share)
  package var threshold: Double?

  package init() {}

  /// The first of these options that the user gave; nil when there is none.
  package var given: String? {
    if build != nil { return "--build" }
    if run != nil { return "--run" }
    return threshold != nil ? "--threshold" : commands.given
  }

  /// Whether base and head are commands or revisions, and not programs with a suite.
  package func isAsked(_ options: GateOptions) -> Bool {
    // The name of a program with a suite has no spaces, or is a file.
    given != nil || [options.base, options.head].contains { $0.map(Self.isCommand) ?? false }
  }

  private static func isCommand(_ text: String) -> Bool {
    text.contains(where: \.isWhitespace) && !FileManager.default.fileExists(atPath: text)
  }
}
