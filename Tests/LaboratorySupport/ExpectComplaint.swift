import HarnessMeasuring
import Testing

/// The built opbench ends with that code, says one line that contains all those words, and prints nothing.
package func expectComplaint(
  _ code: Int32, _ words: [String], _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
) {
  let outcome = ProcessRunner.run("sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path] + arguments, timeout: 60)
  #expect(outcome.ending == .exited(code), "\(arguments)", sourceLocation: sourceLocation)
  #expect(outcome.lines.count == 1, "\(outcome.lines)", sourceLocation: sourceLocation)
  for word in words {
    #expect(
      outcome.lines.first?.contains(word) == true, "\(word) is not in \(outcome.lines)", sourceLocation: sourceLocation)
  }
}
