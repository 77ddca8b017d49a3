import Metrics
import OperationComposition
import Operations
import Synchronization

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
/// | `uploads.finished` | counter | finished operations, with `outcome`: `succeeded`, `failed` or `cancelled` |
/// | `uploads.waiting` | gauge | operations that were added and have not started |
/// | `uploads.running` | gauge | operations that have started and have not finished |
/// | `uploads.workers` | gauge | how many operations the queue's backend runs at a time when none of them blocks |
/// | `uploads.waited` | timer | the time from the adding to the start |
/// | `uploads.ran` | timer | the time from the start to the end |
public struct OperationMetrics: OperationObserver {
  private let added: Counter
  private let succeeded: Counter
  private let failed: Counter
  private let cancelled: Counter
  private let waiting: Meter
  private let running: Meter
  private let workers: Workers
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
    func finished(_ outcome: String) -> Counter {
      Counter(label: "\(label).finished", dimensions: dimensions + [("outcome", outcome)], factory: factory)
    }
    (succeeded, failed, cancelled) = (finished("succeeded"), finished("failed"), finished("cancelled"))
    func gauge(_ name: String) -> Meter { Meter(label: "\(label).\(name)", dimensions: dimensions, factory: factory) }
    (waiting, running, workers) = (gauge("waiting"), gauge("running"), Workers(gauge("workers")))
    waited = Timer(label: "\(label).waited", dimensions: dimensions, factory: factory)
    ran = Timer(label: "\(label).ran", dimensions: dimensions, factory: factory)
  }

  /// Counts, and records the times.
  public func received(_ event: OperationEvent) {
    switch event.kind {
    case .added:
      added.increment()
      waiting.increment()
      workers.note(event.queue)
    case .started:
      waiting.decrement()
      running.increment()
      if let time = event.waited { waited.recordNanoseconds(time.wholeNanoseconds) }
    case .cancelled: break
    case .finished:
      switch event.outcome {
      case .failed: failed.increment()
      case .cancelled: cancelled.increment()
      case .succeeded, nil: succeeded.increment()
      }
      // An operation that was cancelled before its start has not run.
      (event.ran == nil ? waiting : running).decrement()
      if let time = event.ran { ran.recordNanoseconds(time.wholeNanoseconds) }
    }
  }

  /// Notes the number of workers once: the number of a backend stays.
  private final class Workers: Sendable {
    private let gauge: Meter
    private let isNoted = Atomic<Bool>(false)

    init(_ gauge: Meter) { self.gauge = gauge }

    func note(_ queue: OperationQueue) {
      if !isNoted.load(ordering: .relaxed), !isNoted.exchange(true, ordering: .relaxed) {
        gauge.set(queue.backend.workerCount)
      }
    }
  }
}

extension Duration {
  /// At most `Int64.max`.
  var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
