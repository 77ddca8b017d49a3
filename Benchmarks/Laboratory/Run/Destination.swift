import Glibc
import HarnessResults
import HarnessWords

/// The destination of the rows of a run.
package enum Destination {
  case files(ResultFiles, name: String)
  case standardOutput
  /// The rows are not written; only the conclusions are shown.
  case nowhere

  /// The name for `--output` that stands for standard output.
  package static let standardOutputName = "-"

  /// The destination when the user names none: a new file for somebody at a terminal, standard output for a program,
  /// and nothing but the table for the reader of a log.
  static func unnamed(_ output: StandardOutput, runID: String) throws -> Destination {
    switch output {
    case .rows: return .standardOutput
    case .log: return .nowhere
    case .closed: throw closed
    case .terminal:
      let folder = "local-results"
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
        throw Complaint(.cannotCreate, "cannot create the folder \(folder): \(String(cString: strerror(errno)))")
      }
      let name = "\(folder)/\(runID).csv"
      return .files(try ResultFiles(csv: name), name: name)
    }
  }

  static let closed = Complaint(
    .cannotCreate, "standard output is closed, and the rows would be lost: --output FILE.csv takes them")

  /// The descriptor of the table. The table goes to standard error when the rows go to standard output.
  package var tableDescriptor: Int32 {
    if case .standardOutput = self { STDERR_FILENO } else { STDOUT_FILENO }
  }

  /// The file of the rows; nil when the rows go elsewhere.
  var file: String? { if case .files(_, let name) = self { name } else { nil } }

  /// What a stopped run leaves behind, in words.
  /// - Parameter command: the file of the command, when the rows go to another one.
  func remains(command: String?) -> String {
    switch self {
    case .files(_, let name):
      "the table and the CSV hold what was finished; the same command with --output \(command ?? name) --resume goes on"
    case .standardOutput: "the table and the CSV hold what was finished"
    case .nowhere: "the table holds what was finished"
    }
  }

  /// Writes what stands before the rows that are to come.
  func begin(keeping rows: [Row], _ record: RunRecord) throws {
    switch self {
    case .files(let files, _): try files.begin(environment: try record.json(), keeping: rows.map(CSV.line).joined())
    case .standardOutput: try write(CSV.line(CSV.header))
    case .nowhere: break
    }
  }

  func write(_ text: String) throws {
    switch self {
    case .files(let files, _): try files.append(text)
    case .standardOutput: try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
    case .nowhere: break
    }
  }

  /// Writes the facts that are known so far beside the rows.
  func checkpoint(_ record: () -> RunRecord) throws {
    if case .files(let files, _) = self { try files.checkpoint(environment: try record().json()) }
  }

  /// Publishes finished rows while the run goes on.
  func publish(finished rows: [Row], _ record: () -> RunRecord) throws {
    if case .files(let files, _) = self {
      try files.publish(finished: rows.map(CSV.line).joined(), environment: try record().json())
    }
  }

  func publish(_ record: RunRecord) throws {
    if case .files(let files, _) = self { try files.publish(environment: try record.json()) }
  }

  /// Writes all rows at the end of a program that has none before.
  package func write(whole lines: String, header: [String], _ record: RunRecord) throws {
    switch self {
    case .files(let files, _):
      try files.begin(environment: try record.json(), keeping: lines)
      try files.publish(environment: try record.json())
    case .standardOutput: try write(CSV.line(header) + lines)
    case .nowhere: break
    }
  }

  package func discard() {
    if case .files(let files, _) = self { files.discard() }
  }
}
