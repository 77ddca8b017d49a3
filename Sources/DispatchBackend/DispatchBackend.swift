import Dispatch
import OperationJobs
import Primitives

/// Operations on Dispatch. The jobs stand in this backend's own lists, most urgent first. At most `workerCount`
/// callouts, plus one for each that blocks, run the jobs. So many jobs share Dispatch's cost, and priority holds,
/// except for the turn that `Fairness` gives the lowest level.
///
/// On Linux, Dispatch runs one thread per CPU and adds one per second while its threads block. On the private queue
/// nothing depends on that: where operations block, or Dispatch is busy with other work, threads of the backend's own
/// drain the lists.
public final class DispatchBackend: Backend {
  public let name = "dispatch"
  /// How many jobs run at the same time now. A backend for which no number was chosen follows the CPUs that the process
  /// may use. It looks every 100 milliseconds while jobs wait for a thread. Such a backend also lends CPUs to the
  /// running threads of other backends. Fewer jobs run at the same time then, and this number stays.
  public var workerCount: Int { lists.workerNumber.now }
  private let lists: CalloutLists
  /// Written once, at the end of `init`.
  nonisolated(unsafe) package private(set) var home: BackendHome!

  /// Makes a backend on a private concurrent queue.
  /// - Parameters:
  ///   - workers: jobs that run at the same time; by default what OPERATIONS_WORKERS says, or else the CPUs that this
  ///     process may use. The backend then follows the CPUs: see `workerCount`. Traps when it is not positive.
  ///   - fairnessInterval: see `Fairness`. Traps when it is negative.
  public convenience init(workers: Int? = nil, fairnessInterval: Int = Fairness.defaultInterval) {
    self.init(workers: WorkerNumber(workers), fairnessInterval: fairnessInterval)
  }

  /// - Parameter threadLimit: the most callouts that may be out, blocked callouts included.
  package init(
    workers: WorkerNumber, fairnessInterval: Int = Fairness.defaultInterval,
    threadLimit: Int = ThreadShortage.threadLimit
  ) {
    lists = CalloutLists(
      queue: DispatchQueue(label: "operations.dispatch-backend", attributes: .concurrent), isPrivate: true,
      workers: workers, fairnessInterval: Fairness.checked(fairnessInterval), threadLimit: threadLimit)
    home = BackendHome(self, host: lists)
  }

  /// Makes a backend on a dispatch queue of yours: the queue's target, quality of service and seriality apply, and
  /// every job runs on the queue.
  /// - Parameter fairnessInterval: see `Fairness`. Traps when it is negative.
  public init(queue: DispatchQueue, fairnessInterval: Int = Fairness.defaultInterval) {
    lists = CalloutLists(
      queue: queue, isPrivate: false, workers: WorkerNumber(nil), fairnessInterval: Fairness.checked(fairnessInterval))
    home = BackendHome(self, host: lists)
  }

  /// The backend that everybody may use, on a private concurrent queue.
  public static let shared = DispatchBackend()

  public func submit(_ job: Job) { lists.submit(job) }

  public func submit(contentsOf jobs: consuming JobList) { lists.submit(jobs.takeAll()) }

  public func whileBlocked(_ body: () -> Void) { lists.whileBlocked(body) }

  /// False on a dispatch queue of yours: the queue may be serial, and then no other thread may take the place.
  public var replacesBlockedThreads: Bool { lists.replacesBlockedThreads }
}

extension DispatchBackend: SupervisedBackend {
  package var lacksThreads: Bool { !lists.replacesBlockedThreads }
  package var report: BackendReport { lists.report }
  /// A dispatch queue of the program's may be serial: nobody would help.
  package var runsForks: Bool { lists.isPrivate }
}

extension Backend where Self == DispatchBackend {
  /// The shared dispatch backend.
  public static var dispatch: DispatchBackend { .shared }
  /// A new dispatch backend on a private queue.
  public static func dispatch(workers: Int, fairnessInterval: Int = Fairness.defaultInterval) -> DispatchBackend {
    DispatchBackend(workers: workers, fairnessInterval: fairnessInterval)
  }
}
