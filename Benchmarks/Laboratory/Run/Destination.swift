import Glibc
import Harness

/// The destination of the rows of a run.
enum Destination {
  case files(ResultFiles, name: String)
  case standardOutput
  /// The rows are not written; only the conclusions are shown.
  case nowhere

  /// The descriptor of the table. The table goes to standard error when the rows go to standard output.
  var tableDescriptor: Int32 {
    if case .standardOutput = self { STDERR_FILENO } else { STDOUT_FILENO }
  }

  func write(_ text: String) throws {
    switch self {
    case .files(let files, _): try files.append(text)
    case .standardOutput: try ResultFiles.write(text, to: STDOUT_FILENO, name: "standard output")
    case .nowhere: break
    }
  }

  /// Writes the facts that are known so far beside the rows.
  func checkpoint(_ environment: () throws -> String) throws {
    if case .files(let files, _) = self { try files.checkpoint(environment: try environment()) }
  }

  func publish(_ environment: () throws -> String) throws {
    if case .files(let files, _) = self { try files.publish(environment: try environment()) }
  }

  func discard() {
    if case .files(let files, _) = self { files.discard() }
  }
}
