import ArgumentParser
import Glibc
import HarnessWords

/// `report`: makes the pictures and the page of results, with a Python program.
package struct ReportCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Pictures (SVG and PNG) and one HTML page that needs no network.",
    discussion: """
      Hands over to scripts/plot of the checkout, which makes itself a Python environment the first time. The page says which \
      subject is for which work and how sure that is, has every number with its interval, and what was left out and why. A \
      figure whose data is in none of the files is skipped, with a line that says what run would give it.
      """)

  @Argument(
    help: "Results of run or simulate, each with its .env.json beside it.",
    completion: .file(extensions: ["csv"]))
  var files: [String]

  @Option(help: "The folder to write report.html and the pictures to.", completion: .directory)
  var output: String

  @Option(
    help: "A report of validate (default: validate.txt beside the first file).",
    completion: .file(extensions: ["txt"]))
  var validation: String?

  @Option(help: "The subject to compare with (default: the one that the results name).")
  var reference: String?

  package init() {}

  package func run() throws {
    var words = [try Self.script(), "--output", output]
    if let validation { words += ["--validation", validation] }
    if let reference { words += ["--reference", reference] }
    // Every word behind the two dashes is a file, whatever the word begins with.
    words += ["--"] + files
    let arguments = words.map { strdup($0) } + [nil]
    execv(words[0], arguments)
    throw Complaint(.unavailable, "\(words[0]) could not be started: \(String(cString: strerror(errno)))")
  }

  /// The script in the checkout from which this program was built, or in the checkout that contains this program now.
  package static func script(source: String = #filePath, program: String = "/proc/self/exe") throws -> String {
    let own = realpath(program, nil).map { path in
      defer { free(path) }
      return String(cString: path)
    }
    // Benchmarks/Laboratory/Compare/ReportCommand.swift is four levels below the root, and so is
    // .build/<target>/<configuration>/opbench.
    let roots = [folder(source, above: 4)] + (own.map { [folder($0, above: 4)] } ?? [])
    let places = roots.map { root -> String in "\(root)/scripts/plot" }
    guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
      throw Complaint(
        .unavailable,
        "the pictures need scripts/plot of the checkout of opbench that this program was built with, and \(roots[0]) has none; call "
          + "scripts/plot FILE.csv --output DIR in a checkout instead")
    }
    return found
  }

  private static func folder(_ path: String, above levels: Int) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).dropLast(levels).joined(separator: "/")
  }
}
