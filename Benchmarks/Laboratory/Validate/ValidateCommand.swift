import ArgumentParser
import Harness

/// `validate`: does the laboratory find what is there, and only that?
package struct ValidateCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "validate",
      abstract: "Show that equals are not told apart, that known delays are, and what the harness itself costs.",
      discussion: """
        (a) The same subject twice under two names: of the comparisons at most 5 % may be flagged different. (b) The same \
        with a delay of 5, 10 and 20 % injected into every operation: how often it is found. (c) Benchmarks of nothing: \
        what the measuring loop costs, and that it neither allocates nor locks. Takes some minutes.
        """)
  }

  @Option(help: "The folder to write validate.csv, validate.txt and validate.env.json to.", completion: .directory)
  var output: String?

  @Flag(help: "Replace the finished validation in --output.")
  var overwrite = false

  @Option(help: "Comparisons per benchmark, of \(Validation.blocksPerComparison) blocks each.")
  var rounds: Int = 5

  @Option(help: "The seed of every random choice.")
  var seed: UInt64 = 1

  package init() {}

  package func run() throws {
    guard 1...100 ~= rounds else { throw Complaint(.usage, "--rounds takes a count from 1 to 100, not \(rounds)") }
    try ValidationJob(Program.suite, rounds: rounds, seed: seed, output: output, overwrite: overwrite).run()
  }
}
