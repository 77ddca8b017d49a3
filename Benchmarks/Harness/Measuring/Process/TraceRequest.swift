/// What a traced process does: it runs a few repeats while operations are recorded, and writes a piece of the trace
/// file.
package struct TraceRequest: Codable, Hashable, Sendable {
  /// The file to which the process writes its events.
  package let file: String
  /// The name and the number of the process in the trace.
  package let name: String
  package let process: Int32
  /// The most repeats: the repeats of one value. Fewer run when fewer give `wantedOperations`.
  package let repeats: Int
  /// The trace does not show what happens after `operationLimit` operations.
  package let operationLimit: Int

  package init(file: String, name: String, process: Int32, repeats: Int, operationLimit: Int) {
    (self.file, self.name, self.process) = (file, name, process)
    (self.repeats, self.operationLimit) = (repeats, operationLimit)
  }

  /// The number of operations that shows how a benchmark works. More of the same would only make the file longer.
  package static let wantedOperations = 2_000

  package func repeats(of trial: Trial) -> Int {
    max(1, min(repeats, Self.wantedOperations / max(1, trial.operationsPerRepeat)))
  }

  /// The limit that keeps a trace of many cells small enough to be opened.
  package static func operationLimit(cells: Int) -> Int { max(1_000, min(20_000, 200_000 / max(1, cells))) }
}
