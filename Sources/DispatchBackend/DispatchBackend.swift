import Dispatch
import OperationCore
import Primitives

/// Operations on Dispatch: the jobs stand in this backend's own lists, most urgent first, and at most one callout per
/// CPU is on its way to a dispatch queue to run them; so Dispatch's cost is shared by many jobs, and priority holds, save for
/// what `Fairness` says.
///
/// On Linux, Dispatch runs one thread per CPU and adds one per second while they block. On the private queue nothing depends on
/// that: where operations block, or Dispatch is busy with other work, threads of the backend's own drain the lists.
public final class DispatchBackend: Backend {
  public let name = "dispatch"
  public let workerCount: Int
  private let lists: CalloutLists

  /// On a private concurrent queue.
  /// - Parameters:
  ///   - workers: jobs that run at the same time; by default the CPUs that this process may use. Traps when it is not positive.
  ///   - fairnessInterval: see `Fairness`. Traps when it is negative.
  public convenience init(workers: Int? = nil, fairnessInterval: Int = Fairness.defaultInterval) {
    self.init(workers: workers, fairnessInterval: fairnessInterval, threadLimit: ThreadShortage.threadLimit)
  }

  /// - Parameter threadLimit: callouts that may be out, those included that block.
  package init(workers: Int?, fairnessInterval: Int = Fairness.defaultInterval, threadLimit: Int) {
    workerCount = checkedWorkerCount(workers)
    lists = CalloutLists(
      queue: DispatchQueue(label: "operations.dispatch-backend", attributes: .concurrent), isPrivate: true,
      width: workerCount, fairnessInterval: Fairness.checked(fairnessInterval), threadLimit: threadLimit)
  }

  /// On a dispatch queue of yours: its target, quality of service and seriality apply, and every job runs on it.
  /// - Parameter fairnessInterval: see `Fairness`. Traps when it is negative.
  public init(queue: DispatchQueue, fairnessInterval: Int = Fairness.defaultInterval) {
    workerCount = CPUCount.available()
    lists = CalloutLists(
      queue: queue, isPrivate: false, width: workerCount, fairnessInterval: Fairness.checked(fairnessInterval))
  }

  /// The one that everybody may use, on a private concurrent queue.
  public static let shared = DispatchBackend()

  public func submit(_ job: Job) { lists.submit(job) }

  public func submit(contentsOf jobs: consuming JobList) { lists.submit(jobs.takeAll()) }

  public func whileBlocked(_ body: () -> Void) { lists.whileBlocked(body) }
}

extension DispatchBackend: SupervisedBackend {
  package var isFull: Bool { lists.isFull }
  package var report: BackendReport { lists.report }
}

extension Backend where Self == DispatchBackend {
  /// The shared dispatch backend.
  public static var dispatch: DispatchBackend { .shared }
  /// A new dispatch backend on a private queue.
  public static func dispatch(workers: Int, fairnessInterval: Int = Fairness.defaultInterval) -> DispatchBackend {
    DispatchBackend(workers: workers, fairnessInterval: fairnessInterval)
  }
}
