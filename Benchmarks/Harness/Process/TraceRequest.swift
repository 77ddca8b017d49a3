/// What a process that is traced does: a few repeats while operations are recorded, and a piece of the trace file.
package struct TraceRequest: Codable, Hashable, Sendable {
  /// Where the process writes its events.
  package let file: String
  /// What the trace calls it, and by which number.
  package let name: String
  package let process: Int32
  /// As many as one value has, or fewer: enough for `wantedOperations`.
  package let repeats: Int
  /// What happens after `operationLimit` operations is not shown.
  package let operationLimit: Int

  package init(file: String, name: String, process: Int32, repeats: Int, operationLimit: Int) {
    self.file = file
    self.name = name
    self.process = process
    self.repeats = repeats
    self.operationLimit = operationLimit
  }

  /// Enough to see how a benchmark goes; the same again would only make the file longer.
  package static let wantedOperations = 2_000

  package func repeats(of trial: Trial) -> Int {
    max(1, min(repeats, Self.wantedOperations / max(1, trial.operationsPerRepeat)))
  }

  /// So that a trace of many cells can still be opened.
  package static func operationLimit(cells: Int) -> Int { max(1_000, min(20_000, 200_000 / max(1, cells))) }
}
