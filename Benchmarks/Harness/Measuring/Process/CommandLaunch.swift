/// A command of the user, ready to be started.
package struct CommandLaunch: Hashable, Sendable {
  /// The program, looked up on the path unless it names a file, and its arguments.
  package var words: [String]
  /// Where the command runs; nil: where this process runs.
  package var folder: String?
  /// The file that is its standard input; nil: an empty input.
  package var input: String?
  /// Whether its standard output is kept. Otherwise the output goes nowhere.
  package var keepsOutput = false
  /// What is added to this process's environment.
  package var environment: [String: String] = [:]

  package init(_ words: [String]) { self.words = words }
}
