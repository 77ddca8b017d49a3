import CPlatform

/// Traps because the API was misused; the message names the operation or queue.
package func misuse(_ culprit: some CustomStringConvertible, _ reason: String) -> Never {
  fatalError("Operations: \(culprit): \(reason)")
}

/// One line on stderr.
package func printError(_ line: String) {
  "Operations: \(line)".withCString { cplatform_print_error($0) }
}
