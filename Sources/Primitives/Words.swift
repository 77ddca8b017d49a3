// What diagnoses say things with.

/// Nanoseconds.
package func milliseconds(_ nanoseconds: UInt64) -> String {
  nanoseconds < 10_000_000_000 ? "\(nanoseconds / 1_000_000) ms" : "\(nanoseconds / 1_000_000_000) s"
}

/// A count and its noun.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

package enum DiagnosisLimits {
  /// How many operations or threads one list names.
  package static let named = 8

  package static func rest(_ count: Int) -> [String] { count > named ? ["  and \(count - named) more"] : [] }
}
