import CPlatform

/// A timeline of what operations, workers and queues did: which operation ran when, on which thread, how long it had waited and
/// for what. Written in Chrome's trace format, which [Perfetto](https://ui.perfetto.dev) and `chrome://tracing` open.
///
/// ```swift
/// OperationTrace.start()
/// // … the part of the program to look at …
/// try OperationTrace.stop().write(to: "trace.json")
/// ```
/// Without a change to the program, `OPERATIONS_TRACE=FILE.json` in its environment traces it from the beginning and writes the
/// file at its normal exit (`%p` in the name stands for the process's number; a relative name is meant where the program began).
///
/// In the file: a row per thread; a slice per operation that ran, from its start to its finish (of an asynchronous
/// operation, to the return of its `start()`, and the whole in a row of its own), with queue, priority and the times it
/// waited; an arrow from a dependency to whoever waited for it; sleeping workers, steals, wake-ups and spare workers; and
/// how many operations were ready and running. An operation is called by the `name` it had when it was added, else by its class.
///
/// Off, a probe is a load and a branch, and an operation passes three or four. On, each records an event of 32 bytes, with a look at
/// the clock: adding and running an operation takes some 250 nanoseconds more. Nothing is kept alive by being traced.
public struct OperationTrace: Sendable {
  let recording: TraceRecording

  /// How many events a recording keeps unless told otherwise: 32 MB of them.
  public static let usualEventLimit = 1_000_000

  /// Begins a recording; what an earlier one holds is gone. Any thread.
  /// - Parameter eventLimit: at most so many events, of all threads together. What happens after the first that finds no
  ///   room is not shown; the file says how much that was.
  public static func start(eventLimit: Int = usualEventLimit) {
    if eventLimit < 1 { fatalError("Operations: a trace needs room for at least one event, not \(eventLimit)") }
    TraceSession.start(eventLimit: eventLimit)
  }

  /// Ends the recording, at any time: operations may be running, and are shown up to here. Any thread; without a recording
  /// in progress it gives the last one.
  @discardableResult
  public static func stop() -> OperationTrace {
    TraceSession.stop()
    return OperationTrace(recording: TraceSession.collect())
  }

  /// What has been recorded so far; the recording goes on. Any thread.
  public static func snapshot() -> OperationTrace { OperationTrace(recording: TraceSession.collect()) }

  /// Whether a recording is in progress.
  public static var isOn: Bool { cplatform_is_tracing() }

  /// Events that found no room.
  public var droppedEventCount: Int { recording.dropped }

  /// The whole file as text.
  public var json: String {
    var text = TraceText()
    try? write(into: &text)
    return text.string
  }

  /// Writes the file, beside its place first: an earlier one is replaced as a whole or not at all. A symbolic link is followed;
  /// what is no regular file, such as a device, is left alone.
  /// Throws `OperationTraceError` when it cannot be written.
  public func write(to path: String) throws {
    try TraceFile.replace(path) { try write(into: &$0) }
  }

  private func write(into text: inout TraceText) throws {
    let timeline = TraceTimeline(recording)
    try text.append(TraceDocument.header(of: timeline))
    try TraceDocument(timeline, process: cplatform_process_id(), name: TraceDocument.programName, firstID: 1)
      .write(into: &text)
    try text.append(TraceDocument.footer)
  }

  // MARK: - For the laboratory

  /// The events alone, as lines of which each but the last ends in a comma: to be put together with those of other processes.
  /// - Parameters:
  ///   - process: the number that the file gives this process.
  ///   - operationLimit: nothing is shown from the moment when one more than so many operations were added.
  /// - Returns: how many operations have a slice, and how many events are not shown.
  package func writeEvents(
    to path: String, process: Int32, name: String, operationLimit: Int
  ) throws -> (operations: Int, dropped: Int) {
    let timeline = TraceTimeline(recording, operationLimit: operationLimit)
    // Nobody else writes there; and whoever asked for it knows what to remove if this process is killed.
    try TraceFile.replace(path, beside: path + ".partial") { text in
      // Arrows of different processes must not share numbers.
      try TraceDocument(timeline, process: process, name: name, firstID: Int(process) << 24 + 1).write(into: &text)
    }
    return (timeline.executed, timeline.notShown)
  }
}

/// A trace could not be written.
public struct OperationTraceError: Error, CustomStringConvertible {
  /// The file that was to be written.
  public let path: String
  /// What the system says.
  public let reason: String

  public var description: String { "cannot write \(path): \(reason)" }
}

/// At the normal exit of a program that `OPERATIONS_TRACE` traces.
@_documentation(visibility: internal)
@c(operations_write_trace)
public func operationsWriteTrace(_ path: UnsafePointer<CChar>) {
  do {
    try OperationTrace.stop().write(to: String(cString: path))
  } catch {
    printError("OPERATIONS_TRACE: \(error)")
  }
}
