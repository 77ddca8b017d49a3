import HarnessPlanning

/// How long one process of the gate measures, and how long it may take.
package struct GateEffort: Hashable, Sendable {
  /// The values of a process. Each arm of a block is one process, and takes no turns: thresholds were calibrated so.
  let process = Effort(blocks: 40, values: 4, leadIn: 10_000_000, target: 2_000_000, budget: 8_000_000)
  /// Seconds after which the first process of a cell counts as hung.
  var firstTimeout = 120.0
  /// A later process counts as hung after this multiple of the time of the first process, and not before `timeout`
  /// seconds.
  var timeoutFactor = 30.0
  var timeout = 20.0

  package init() {}
}
