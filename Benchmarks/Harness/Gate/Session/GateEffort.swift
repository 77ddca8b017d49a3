/// How long one process of the gate measures.
package struct GateEffort: Hashable, Sendable {
  /// The number of processes per arm and block. Several are needed because processes of the same program differ from
  /// one another by where their memory and threads happen to be.
  package var processes = 3
  /// Many short values rather than few long values. Time that one value loses to another guest of the host then does
  /// not affect the median of all values.
  package var values = 8
  package var leadIn: UInt64 = 5_000_000
  /// How long a value takes on the base, in nanoseconds.
  package var target: UInt64 = 5_000_000
  /// Seconds after which the first process of a cell counts as hung.
  package var firstTimeout = 120.0
  /// A later process counts as hung after this multiple of the time of the first process, and not before `timeout`
  /// seconds.
  package var timeoutFactor = 30.0
  package var timeout = 20.0

  package init() {}
}
