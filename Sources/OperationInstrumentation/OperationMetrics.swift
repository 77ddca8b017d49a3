import Metrics
import OperationComposition
import Operations

/// Gives swift-metrics what happens to the operations of an `ObservedOperationQueue`.
///
/// ```swift
/// import OperationComposition
/// import OperationInstrumentation
/// import Operations
///
/// let queue = ObservedOperationQueue(observers: [OperationMetrics(label: "uploads")])
/// queue.addTask(name: "upload") {}
/// ```
///
/// With the label `uploads` the metrics are:
///
/// | metric | kind | says |
/// |---|---|---|
/// | `uploads.added` | counter | operations that were added |
/// | `uploads.finished` | counter | operations that have finished; the dimension `cancelled` is `true` or `false` |
/// | `uploads.waited` | timer | the time from the adding to the start |
/// | `uploads.ran` | timer | the time from the start to the end |
public struct OperationMetrics: OperationObserver {
  private let added: Counter
  private let finished: Counter
  private let cancelled: Counter
  private let waited: Timer
  private let ran: Timer

  /// - Parameters:
  ///   - label: what the metrics' labels begin with.
  ///   - dimensions: stand in all of the metrics.
  ///   - factory: where the metrics are made; the one of `MetricsSystem` in most programs.
  public init(
    label: String = "operations", dimensions: [(String, String)] = [],
    factory: any MetricsFactory = MetricsSystem.factory
  ) {
    added = Counter(label: "\(label).added", dimensions: dimensions, factory: factory)
    finished = Counter(
      label: "\(label).finished", dimensions: dimensions + [("cancelled", "false")], factory: factory)
    cancelled = Counter(
      label: "\(label).finished", dimensions: dimensions + [("cancelled", "true")], factory: factory)
    waited = Timer(label: "\(label).waited", dimensions: dimensions, factory: factory)
    ran = Timer(label: "\(label).ran", dimensions: dimensions, factory: factory)
  }

  /// Counts, and records the times.
  public func received(_ event: OperationEvent) {
    switch event.kind {
    case .added: added.increment()
    case .started: if let time = event.waited { waited.recordNanoseconds(time.wholeNanoseconds) }
    case .cancelled: break
    case .finished:
      (event.isCancelled ? cancelled : finished).increment()
      if let time = event.ran { ran.recordNanoseconds(time.wholeNanoseconds) }
    }
  }
}

extension Duration {
  /// At most `Int64.max`.
  var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
