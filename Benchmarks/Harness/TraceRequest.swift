/// What a process that is traced does: a few repeats while operations are recorded, and a piece of the trace file.
public struct TraceRequest: Codable, Hashable, Sendable {
  /// Where the process writes its events.
  public let file: String
  /// What the trace calls it, and by which number.
  public let name: String
  public let process: Int32
  /// As many as one value has, or fewer: enough for `wantedOperations`.
  public let repeats: Int
  /// What happens after so many operations is not shown.
  public let operationLimit: Int

  public init(file: String, name: String, process: Int32, repeats: Int, operationLimit: Int) {
    self.file = file
    self.name = name
    self.process = process
    self.repeats = repeats
    self.operationLimit = operationLimit
  }

  /// Enough to see how a benchmark goes; the same again would only make the file longer.
  public static let wantedOperations = 2_000

  public func repeats(of trial: Trial) -> Int {
    max(1, min(repeats, Self.wantedOperations / max(1, trial.operationsPerRepeat)))
  }

  /// So that a trace of many cells can still be opened.
  public static func operationLimit(cells: Int) -> Int { max(1_000, min(20_000, 200_000 / max(1, cells))) }
}

/// What records the operations of this process; the program has it from the library.
public struct Tracer {
  /// Whether operations are being recorded, because the environment says so.
  public let isOn: () -> Bool
  public let start: () -> Void
  public let stop: () -> Void
  /// Writes the events and says how many operations ran, and how many events are not shown.
  public let write: (TraceRequest) throws -> (operations: Int, notShown: Int)

  public init(
    isOn: @escaping () -> Bool, start: @escaping () -> Void, stop: @escaping () -> Void,
    write: @escaping (TraceRequest) throws -> (operations: Int, notShown: Int)
  ) {
    self.isOn = isOn
    self.start = start
    self.stop = stop
    self.write = write
  }
}
