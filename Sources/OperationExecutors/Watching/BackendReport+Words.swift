import CPlatform
import OperationJobs
import Primitives

extension SupervisedBackend {
  /// What the backend's threads do, in one line or a few.
  package var threadsInWords: String {
    let rows = givenUpRows
    let cost =
      rows.isEmpty
      ? ""
      : " (\(counted(rows.count, "row")) of the contract given up: \(rows.map(String.init).joined(separator: ", ")))"
    return report.summary(name: name + cost, workerCount: workerCount)
  }
}

extension BackendReport {
  fileprivate func summary(name: String, workerCount: Int) -> String {
    var text = "\(name), \(counted(workerCount, "worker")), \(counted(threads.count, "thread")): "
    let busy = threads.filter(\.isBusy)
    let waiting = busy.filter(\.isWaiting)
    let blocked = busy.filter { $0.isBlocked && !$0.isWaiting }
    let computing = busy.count - waiting.count - blocked.count
    text +=
      "\(computing) computing, \(blocked.count) blocked in their bodies, \(waiting.count) waiting for operations, "
    text += "\(threads.count - busy.count) idle; \(counted(queued, "job")) queued"
    if isRefused { text += "; the system refuses further threads" }
    if isFull { text += "; there are as many threads as there may be" }
    let now = cplatform_now_ns()
    for thread in (blocked + waiting).prefix(DiagnosisLimits.named) {
      let since = thread.since.map { ", in the same job for at least \(milliseconds(now &- $0))" } ?? ""
      text += "\n    thread \(thread.threadID) \(thread.isWaiting ? "waits for an operation" : "blocks")"
      text += " (kernel: \(thread.kernelWord))\(since)"
    }
    return text
  }
}
