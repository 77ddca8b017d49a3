import HarnessPlanning

/// How long one process of the gate measures, and how long it may take.
package struct GateEffort: Hashable, Sendable {
  /// The values of a process, as in a run. Each arm of a block is one process.
  let process = Effort.full
  /// Seconds after which the first process of a cell counts as hung.
  var firstTimeout = 120.0
  /// A later process counts as hung after this multiple of the time of the first process, and not before `timeout`
  /// seconds.
  var timeoutFactor = 30.0
  var timeout = 20.0

  package init() {}
}
