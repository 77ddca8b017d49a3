/// The name of this program, as the user calls it: of opbench, or of a program of the user's own benchmarks.
package enum ProgramName {
  /// With this name lines on standard error begin, and the commands that a hint shows.
  package static let own = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? "opbench"
}
