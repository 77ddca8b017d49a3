/// How long one process of the gate measures.
package struct GateEffort: Hashable, Sendable {
  /// Processes per arm and block: processes of the same program differ from one another by where their memory and
  /// threads happen to lie.
  package var processes = 3
  /// Many short values rather than few long ones: what a value loses to another guest of the host then does not touch
  /// the median of all of them.
  package var values = 8
  package var leadIn: UInt64 = 5_000_000
  /// What a value takes on the base, in nanoseconds.
  package var target: UInt64 = 5_000_000
  /// Seconds after which the first process of a cell counts as hung.
  package var firstTimeout = 120.0
  /// A later process counts as hung after this multiple of what the first took, and not before `timeout` seconds.
  package var timeoutFactor = 30.0
  package var timeout = 20.0

  package init() {}
}
