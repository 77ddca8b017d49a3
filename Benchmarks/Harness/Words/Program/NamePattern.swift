/// The regular expressions that the user gives to choose by name.
package enum NamePattern {
  /// - Parameter option: the option whose value the text is.
  package static func read(_ text: String, of option: String) throws -> Regex<AnyRegexOutput> {
    guard let expression = try? Regex(text) else {
      throw Complaint(.usage, "\(option) '\(text)' is not a regular expression")
    }
    return expression
  }
}
