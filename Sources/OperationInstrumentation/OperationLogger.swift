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
/// The line is "operation finished", "operation cancelled" or, of a `FailableOperation` that ended with an error,
/// "operation failed". Its metadata are `operation` and `queue` (their names), `waited_ns`, of an operation that has
/// run `ran_ns`, and the `error`.
public struct OperationLogger: OperationObserver {
  private let logger: Logger
  private let level: Logger.Level
  private let failureLevel: Logger.Level

  /// - Parameters:
  ///   - logger: what writes.
  ///   - level: of all lines but those of failures.
  ///   - failureLevel: of the lines of operations that failed.
  public init(_ logger: Logger, level: Logger.Level = .debug, failureLevel: Logger.Level = .error) {
    self.logger = logger
    self.level = level
    self.failureLevel = failureLevel
  }

  /// Writes the line of an operation that has finished.
  public func received(_ event: OperationEvent) {
    guard let outcome = event.outcome else { return }
    let (level, message): (Logger.Level, Logger.Message) =
      switch outcome {
      case .succeeded: (level, "operation finished")
      case .cancelled: (level, "operation cancelled")
      case .failed: (failureLevel, "operation failed")
      }
    guard logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [:]
    metadata["operation"] = event.operation.name.map { "\($0)" }
    metadata["queue"] = event.queue.name.map { "\($0)" }
    metadata["waited_ns"] = event.waited.map { "\($0.wholeNanoseconds)" }
    metadata["ran_ns"] = event.ran.map { "\($0.wholeNanoseconds)" }
    if case .failed(let error) = outcome { metadata["error"] = "\(error)" }
    logger.log(level: level, message, metadata: metadata)
  }
}
