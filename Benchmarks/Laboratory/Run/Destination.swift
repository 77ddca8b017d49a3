import Glibc
import Harness

/// Where the rows of a run go.
enum Destination {
  case files(ResultFiles, name: String)
  case standardOutput
  /// Only what is concluded from them is shown.
  case nowhere

  /// Where the table goes: standard output belongs to the rows when they go there.
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

  /// Keeps what is known so far beside the rows.
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
