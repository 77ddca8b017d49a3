import ArgumentParser
import HarnessRunning

/// `validate`: shows whether the laboratory finds the differences that exist, and only those.
package struct ValidateCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "validate",
      abstract: "Show that equals are not told apart, that known delays are, and what the harness itself costs.",
      discussion: """
        (a) The same subject twice under two names: of the comparisons no more may be flagged different than 95 % intervals flag \
        by chance. (b) The same with a delay of 2, 5 and 10 % injected into every operation: how often it is found. (c) Benchmarks of nothing: \
        what the measuring loop costs, and that it neither allocates nor locks. (d) All benchmarks of a run: one repeat more \
        in a value may change no time by more than 1 %. Takes some minutes.
        """)
  }

  @Option(help: "The folder to write validate.csv, validate.txt and validate.env.json to.", completion: .directory)
  var output: String?

  @Flag(help: "Replace the finished validation in --output.")
  var overwrite = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Rounds of \(Validation.blocksPerRound) blocks per benchmark. A comparison takes about a round.",
      discussion: "By default \(Self.usualRounds), at least \(Self.fewestRounds)."),
    transform: { text in
      guard let rounds = Int(text), Self.fewestRounds...100 ~= rounds else {
        throw OptionNumber.Wanted(
          description:
            "it takes a count from \(Self.fewestRounds) to 100; fewer rounds cannot show a share of 5 %")
      }
      return rounds
    })
  var rounds: Int?

  @Option(parsing: .unconditional, help: "The seed of every random choice.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  @OptionGroup var place: PlaceOptions

  private static var fewestRounds: Int {
    Validation.fewestRounds(benchmarks: Program.suite.experiment.scenarios.count)
  }
  /// Gives about sixty comparisons, with any number of benchmarks.
  private static var usualRounds: Int { 3 * fewestRounds }

  package init() {}

  package func run() throws {
    try place.bind()
    try ReportedValidation(
      Program.suite, rounds: rounds ?? Self.usualRounds, seed: seed, output: output, overwrite: overwrite
    ).run()
  }
}
