import Primitives

/// What this library's own backends tell beyond `Backend`, for waits and for diagnoses.
package protocol SupervisedBackend: Backend {
  /// There are as many threads as there may be, or the system refuses one: no thread takes the place of a thread that
  /// blocks.
  var lacksThreads: Bool { get }
  /// What the backend's threads do.
  var report: BackendReport { get }
  /// The rows of the contract that the backend's strategy gives up.
  var givenUpRows: [Int] { get }
  /// An operation of the backend has begun and goes on after its `start()`, or such an operation has ended:
  /// `BegunOperations` says when. Nothing to do for a backend without an end.
  func countBegun()
  func countEnded()

  /// One object for the backend's whole life.
  var home: BackendHome! { get }
  /// Whether forks of the backend's operations run on the backend. If not, they run on the default backend.
  var runsForks: Bool { get }
}

extension SupervisedBackend {
  package var givenUpRows: [Int] { [] }
  package var runsForks: Bool { true }
  package func countBegun() {}
  package func countEnded() {}
}

/// What a backend's threads do, at some instant.
package struct BackendReport: Sendable {
  /// Jobs that wait for a thread. The count of a lock-free pool is not necessarily exact.
  package var queued = 0
  package var threads: [WatchedThread.Report] = []
  package var isRefused = false
  package var isFull = false

  package init() {}

  /// - Parameter shortage: of the pool's threads.
  package init(queued: Int, threads: [WatchedThread.Report], shortage: borrowing ThreadShortage) {
    (self.queued, self.threads) = (queued, threads)
    (isRefused, isFull) = (shortage.isRefused, shortage.isFull)
  }
}
