import Logging
import OperationComposition
import Operations

/// Writes a line into a log for each operation of an `ObservedOperationQueue` that finishes.
///
/// ```swift
/// import Logging
/// import OperationComposition
/// import OperationInstrumentation
/// import Operations
///
/// let logger = Logger(label: "uploads")
/// let queue = ObservedOperationQueue(observers: [OperationLogger(logger)])
/// queue.addTask(name: "upload") {}
/// ```
///
/// The line is "operation finished" or "operation cancelled". Its metadata are `operation` and `queue` (their names), `waited_ns`
/// and, of an operation that has run, `ran_ns`.
public struct OperationLogger: OperationObserver {
  private let logger: Logger
  private let level: Logger.Level

  /// - Parameters:
  ///   - logger: what writes.
  ///   - level: of all lines.
  public init(_ logger: Logger, level: Logger.Level = .debug) {
    self.logger = logger
    self.level = level
  }

  /// Writes the line of an operation that has finished.
  public func received(_ event: OperationEvent) {
    guard event.kind == .finished, logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [:]
    metadata["operation"] = event.operation.name.map { "\($0)" }
    metadata["queue"] = event.queue.name.map { "\($0)" }
    metadata["waited_ns"] = event.waited.map { "\($0.wholeNanoseconds)" }
    metadata["ran_ns"] = event.ran.map { "\($0.wholeNanoseconds)" }
    logger.log(
      level: level, event.isCancelled ? "operation cancelled" : "operation finished", metadata: metadata)
  }
}
