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
}

extension SupervisedBackend {
  package var givenUpRows: [Int] { [] }
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
