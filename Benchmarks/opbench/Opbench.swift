import ArgumentParser
import Laboratory

/// The command line: parses the arguments and calls the harness.
@main
struct Opbench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opbench",
    abstract: "Measures operation queues: ours beside Foundation's OperationQueue and raw Dispatch.",
    version: Version.text,
    subcommands: [
      Run.self, Load.self, Queueing.self, Ablate.self, Explain.self, Simulate.self, CalibrateModel.self,
      CheckModel.self, List.self,
      CompareCommand<OpbenchProgram>.self, MergeCommand<OpbenchProgram>.self, ReportCommand.self, Gate.self,
      DuelCommand.self, ValidateCommand<OpbenchProgram>.self, Verify.self, PeerCheck.self,
      MeasureCommand<OpbenchProgram>.self,
    ],
    defaultSubcommand: Run.self)

  static func main() { CommandLineProgram.run(Self.self, measuring: OpbenchProgram.self) }
}
