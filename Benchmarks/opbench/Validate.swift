import ArgumentParser
import Glibc
import Harness
import Subjects
import Workloads

/// `opbench validate`: does the laboratory find what is there, and only that?
struct Validate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show that equals are not told apart, that known delays are, and what the harness itself costs.",
    discussion: """
      (a) The same backend twice under two names: 30 comparisons, of which at most 5 % may be flagged different. (b) The same \
      with a delay of 5, 10 and 20 % injected into every operation: how often it is found. (c) The benchmarks without a queue: \
      what the measuring loop costs, and that it neither allocates nor locks. Takes about four minutes.
      """)

  @Option(help: "The folder to write validate.csv, validate.txt and validate.env.json to.", completion: .directory)
  var output: String?

  @Option(help: "Comparisons per benchmark, of \(Validation.blocksPerComparison) blocks each.")
  var rounds: Int = 5

  @Option(help: "The seed of every random choice.")
  var seed: UInt64 = 1

  func run() throws {
    guard 1...100 ~= rounds else { throw Complaint(.usage, "--rounds takes a count from 1 to 100, not \(rounds)") }
    try ValidationJob(rounds: rounds, seed: seed, output: output).run()
  }
}
