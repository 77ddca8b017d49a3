import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// `report`: makes the document of facts, and the pictures and the page of it with a Python program.
package struct ReportCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Pictures (SVG and PNG) and one HTML page that needs no network.",
    discussion: """
      Makes one document of all numbers, and hands it over to scripts/plot of the checkout of opbench that this program was \
      built with. The first time that makes a Python environment, which takes a minute or two: in .build of the checkout, or, \
      for a program outside of the checkout, in opbench/ of the user's cache (XDG_CACHE_HOME, or ~/.cache). The page says which subject is for which work and how sure that is, has every number with its \
      interval, and what was left out and why. A figure whose data is in none of the files is skipped, with a line that says what \
      run would give it.
      """)

  @Argument(
    help: "Results of run, simulate or explain, each with its .env.json; packed with gzip where the name ends in .gz.",
    completion: .file(extensions: ["csv", "gz"]))
  var files: [String]

  @Option(help: "The folder to write report.html and the pictures to.", completion: .directory)
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Write the document of facts here and draw nothing; - is standard output.", valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var facts: String?

  @Option(
    help: ArgumentHelp(
      "With --facts: what others published, a list in JSON that is judged by our numbers.", valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var claims: String?

  @Option(
    help: "A report of validate (default: validate.txt beside the first file).",
    completion: .file(extensions: ["txt"]))
  var validation: String?

  @Option(help: "The subject to compare with (default: the one that the results name).")
  var reference: String?

  @Flag(help: "The pictures only.")
  var noPage = false

  @Flag(help: "The page only.")
  var noPictures = false

  package init() {}

  package func run() throws {
    try checkOptions()
    let document = try document()
    if let facts {
      guard facts != "-" else {
        return try DescriptorOutput.write(document, to: STDOUT_FILENO, name: "standard output")
      }
      return try ResultFiles.replace(facts, with: document)
    }
    let script = try Self.script()
    if let folder = try Self.environments(script: script) { setenv(Self.environmentsVariable, folder, 1) }
    var words = [script, "--facts", try Self.openFile(of: document), "--output", output ?? ""]
    if let validation { words += ["--validation", validation] }
    if noPage { words.append("--no-page") }
    if noPictures { words.append("--no-pictures") }
    let arguments = words.map { strdup($0) } + [nil]
    execv(words[0], arguments)
    throw Complaint(.unavailable, "\(words[0]) could not be started: \(String(cString: strerror(errno)))")
  }

  private func checkOptions() throws {
    if output == nil, facts == nil {
      throw Complaint(.usage, "report needs --output DIR, the folder for the page, or --facts FILE.json")
    }
    if facts != nil, output != nil || validation != nil || noPage || noPictures {
      throw Complaint(
        .usage, "--facts writes the document alone: --output and what the page shows have no place beside it")
    }
    if claims != nil, facts == nil {
      throw Complaint(.usage, "--claims needs --facts: the page of a report shows no claims")
    }
    if noPage, noPictures { throw Complaint(.usage, "--no-page and --no-pictures together leave nothing to make") }
  }

  private func document() throws -> String {
    for (place, path) in files.enumerated() where files[..<place].contains(where: { Self.isSame($0, path) }) {
      throw Complaint(.usage, "\(path) is given twice")
    }
    let simulated = try files.filter(SimulatedFile.isSimulated)
    let explained = try files.filter(ExplainedFile.isExplained)
    let measured = files.filter { !simulated.contains($0) && !explained.contains($0) }
    if measured.isEmpty, validation != nil || reference != nil {
      throw Complaint(
        .usage,
        "--\(validation == nil ? "reference" : "validation") is for results of run, and no file here is one")
    }
    let sets = try measured.map { try ResultSet.read(path: $0) }
    let document = try FactsDocument(
      sets, simulated: simulated.map { try SimulatedFile(path: $0) },
      explained: explained.map { try ExplainedFile(path: $0) }, reference: reference,
      claims: claims.map { try PublishedClaim.read(path: $0) }
    )
    for set in sets where set.record == nil {
      Progress().say(
        "\(set.name) has no .env.json beside it: excluded blocks, failures and the machine are not known")
    }
    return try document.json(isCompact: true)
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || (place(one) != nil && place(one) == place(other))
  }

  /// The path without symbolic links; nil when there is no such file.
  private static func place(_ path: String) -> String? {
    realpath(path, nil).map { text in
      defer { free(text) }
      return String(cString: text)
    }
  }

  /// What tells `scripts/plot` in which folder its Python environment belongs.
  static let environmentsVariable = "OPBENCH_ENVIRONMENTS"

  /// The folder for the Python environment; nil for `.build` of the checkout that has the script.
  ///
  /// A checkout of which this program is no part is not ours to write into: SwiftPM fetched it for another package,
  /// removes it with the next version, or it belongs to somebody else. So the environment goes to the user's cache,
  /// where all programs share it.
  package static func environments(
    script: String, program: String = "/proc/self/exe",
    variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) throws -> String? {
    if let given = variable(environmentsVariable), !given.isEmpty { return given }
    let root = folder(script, above: 2)
    if let own = place(program), own.hasPrefix("\(place(root) ?? root)/") { return nil }
    // A path of XDG_CACHE_HOME that is relative does not count.
    if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return "\(cache)/opbench" }
    guard let home = variable("HOME"), home.hasPrefix("/") else {
      throw Complaint(
        .unavailable,
        "neither XDG_CACHE_HOME nor HOME says where the Python environment of the pictures may lie; set \(environmentsVariable) to a folder"
      )
    }
    return "\(home)/.cache/opbench"
  }

  /// A path to the document, which is a file without a name: this process and the program after it have it open, and
  /// nothing is left of it behind them.
  private static func openFile(of document: String) throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array("\(folder)/opbench-facts-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else {
      throw Complaint(
        .cannotCreate, "no file for the document of facts in \(folder): \(String(cString: strerror(errno)))")
    }
    unlink(name)
    try DescriptorOutput.write(document, to: descriptor, name: "the document of facts")
    return "/dev/fd/\(descriptor)"
  }

  /// The script in the checkout from which this program was built, or in the checkout that contains this program now.
  package static func script(source: String = #filePath, program: String = "/proc/self/exe") throws -> String {
    let own = place(program)
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
