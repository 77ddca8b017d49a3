import CPlatform
import OperationTraceEvents
import Primitives

/// A timeline of what operations, workers and queues did: which operation ran when, on which thread, how long it had
/// waited and for what. The timeline is written in Chrome's trace format; [Perfetto](https://ui.perfetto.dev) and
/// `chrome://tracing` open that format.
///
/// ```swift
/// OperationTrace.start()
/// // … the part of the program to look at …
/// try OperationTrace.stop().write(to: "trace.json")
/// ```
/// Without a change to the program, `OPERATIONS_TRACE=FILE.json` in its environment traces the program from the
/// beginning and writes the file at its normal exit. `%p` in the name stands for the process's number. A relative
/// name is relative to the directory where the program began.
///
/// The file has a row per thread, and a slice per operation that ran, from its start to its finish. The slice of an
/// asynchronous operation ends with the return of its `start()`; the whole operation is in a row of its own. A slice
/// shows queue, priority and the times that the operation waited. An arrow goes from a dependency to each operation
/// that waited for it. A task on an executor of the library has a slice from where it goes on until it is suspended or
/// ends, called by its name, else by its function. The file also shows sleeping workers, steals, wake-ups and spare
/// workers, and how many operations were ready and running. An operation is called by the `name` it had when it was
/// added, else by its class.
///
/// Off, a probe is a load and a branch, and an operation passes three or four probes. On, each probe records an event
/// of 32 bytes, and reads the clock: adding and running an operation takes some 250 nanoseconds more. Nothing is kept
/// alive by being traced.
public struct OperationTrace: Sendable {
  let recording: TraceRecording

  /// The default number of events that a recording keeps: 32 MB of events.
  public static let usualEventLimit = TraceSession.usualEventLimit

  /// Begins a recording; what an earlier recording holds is gone. May be called on any thread.
  /// - Parameter eventLimit: the largest number of events, of all threads together. What happens after the first
  ///   event that finds no room is not shown; the file says how many events that was.
  public static func start(eventLimit: Int = usualEventLimit) {
    if eventLimit < 1 { fatalError("Operations: a trace needs room for at least one event, not \(eventLimit)") }
    TraceSession.start(eventLimit: eventLimit)
  }

  /// Ends the recording, at any time: operations may be running, and are shown up to here. May be called on any
  /// thread. Without a recording in progress, `stop()` returns the last recording.
  @discardableResult
  public static func stop() -> OperationTrace {
    TraceSession.stop()
    return OperationTrace(recording: TraceSession.collect())
  }

  /// What has been recorded so far; the recording goes on. May be called on any thread.
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

  /// Writes the file, beside its place first: an earlier file is replaced as a whole or not at all. A symbolic link
  /// is followed. A path to something that is no regular file, such as a device, is left alone. Throws
  /// `OperationTraceError` when the file cannot be written.
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

  /// The events alone, as lines: each line except the last ends in a comma, to be put together with the lines of
  /// other processes.
  /// - Parameters:
  ///   - process: the number that the file gives this process.
  ///   - operationLimit: nothing is shown from the moment when more than this number of operations were added.
  /// - Returns: how many operations have a slice, and how many events are not shown.
  package func writeEvents(
    to path: String, process: Int32, name: String, operationLimit: Int
  ) throws -> (operations: Int, dropped: Int) {
    let timeline = TraceTimeline(recording, operationLimit: operationLimit)
    // Nobody else writes there. The caller knows which file to remove if this process is killed.
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
  /// What the system says about the failure.
  public let reason: String

  public var description: String { "cannot write \(path): \(reason)" }
}

/// Called at the normal exit of a program that `OPERATIONS_TRACE` traces.
@_documentation(visibility: internal)
@c(operations_write_trace)
public func operationsWriteTrace(_ path: UnsafePointer<CChar>) {
  do {
    try OperationTrace.stop().write(to: String(cString: path))
  } catch {
    printError("OPERATIONS_TRACE: \(error)")
  }
}
