import Dispatch
import OperationCore
import Primitives

/// Operations on Dispatch: the jobs stand in this backend's own lists, most urgent first, and at most one callout per
/// CPU is on its way to a dispatch queue to run them; so Dispatch's cost is shared by many jobs, and priority holds.
///
/// On Linux, Dispatch runs one thread per CPU and adds one per second while they block. A wait inside an operation on the
/// private queue does not depend on that: another thread drains the lists meanwhile.
public final class DispatchBackend: Backend {
  public let name = "dispatch"
  public let workerCount: Int
  private let lists: CalloutLists

  /// On a private concurrent queue.
  /// - Parameter workers: jobs that run at the same time; by default the CPUs that this process may use.
  public init(workers: Int? = nil) {
    precondition(workers.map { $0 > 0 } ?? true, "a backend needs at least one worker")
    workerCount = workers ?? CPUCount.available()
    lists = CalloutLists(
      queue: DispatchQueue(label: "operations.dispatch-backend", attributes: .concurrent), isPrivate: true,
      width: workerCount)
  }

  /// On a dispatch queue of yours: its target, quality of service and seriality apply, and every job runs on it.
  public init(queue: DispatchQueue) {
    workerCount = CPUCount.available()
    lists = CalloutLists(queue: queue, isPrivate: false, width: workerCount)
  }

  /// The one that everybody may use, on a private concurrent queue.
  public static let shared = DispatchBackend()

  public func submit(_ job: Job) { lists.submit(job) }

  public func submit(contentsOf jobs: consuming JobList) { lists.submit(jobs.takeAll()) }

  public func whileBlocked(_ body: () -> Void) { lists.whileBlocked(body) }
}

extension Backend where Self == DispatchBackend {
  /// The shared dispatch backend.
  public static var dispatch: DispatchBackend { .shared }
  /// A new dispatch backend on a private queue.
  public static func dispatch(workers: Int) -> DispatchBackend { DispatchBackend(workers: workers) }
}
