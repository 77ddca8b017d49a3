import CPlatform
import Primitives

/// Operations that became ready at one moment, on their way to their backends: those of the first backend as one list.
struct ReadyBatch: ~Copyable {
  private var list = JobFIFO()
  /// Identity of the backend that `list` is for; 0 while it is empty.
  private var listHome: UInt32
  /// The first operation that `list` got: its link is in use here, so it cannot leave its queue.
  private var listOperation: UInt = 0
  /// The backend on whose thread this is; its next job may be taken from the list.
  private let home: UInt32

  /// Whether user code may run here: overridden `isReady`, observers. Not on a thread of the user's, who may hold locks.
  let mayRunUserCode: Bool

  init(home: UInt32, mayRunUserCode: Bool = false) {
    self.home = home
    self.mayRunUserCode = mayRunUserCode
    listHome = 0
  }

  /// - Parameter operation: scheduled by the caller, who therefore holds its queue.
  mutating func add(_ operation: Operation, useLink: Bool) {
    if _slowPath(cplatform_is_tracing()) { TraceProbe.isReady(operation.word) }
    let entry = useLink ? operation.word : operation.makeMovedEntry()
    if operation.stateNow.has(StateWord.tracked) {
      if let queue = operation.retainedQueue() { queue.controller.admitLater(operation, entry: entry, of: queue) }
      return
    }
    let operationHome = operation.home.load(ordering: .relaxed)
    if listHome == 0, useLink {
      listHome = operationHome
      listOperation = operation.word
    }
    if listHome == operationHome, useLink {
      list.append(entry)
    } else {
      if let queue = operation.retainedQueue() {
        queue.backend.submit(Job(word: entry))
      } else if !useLink {
        // It has finished and left meanwhile.
        JobObject.unmanaged(entry)._withUnsafeGuaranteedRef { $0.discard() }
      }
    }
  }

  /// The most urgent entry, first of its level, for the thread itself to run; 0 when there is none of its backend.
  mutating func takeSuccessor() -> UInt {
    guard home != 0, listHome == home, !list.isEmpty else { return 0 }
    if list.count == 1 { return list.popFirst() }
    var best = -1
    var rest = JobFIFO()
    var chosen: UInt = 0
    var node = list.popFirst()
    while node != 0 {
      let level = Job(word: node).level
      if level > best {
        best = level
        chosen = node
      }
      rest.append(node)
      node = list.popFirst()
    }
    node = rest.popFirst()
    while node != 0 {
      if node != chosen { list.append(node) }
      node = rest.popFirst()
    }
    return chosen
  }

  consuming func submit() { flush() }

  /// Hands over what is there: nothing may wait here while user code runs.
  mutating func flush() {
    // The first operation's entry is still here, unless this thread runs it next: either way it is in its queue.
    guard !list.isEmpty,
      let backend = Operation.unmanaged(listOperation)._withUnsafeGuaranteedRef({
        $0.retainedQueue()?.backend
      })
    else { return }
    if list.count == 1 {
      backend.submit(Job(word: list.popFirst()))
    } else {
      var all = JobFIFO()
      all.append(contentsOf: &list)
      backend.submit(contentsOf: JobList(all))
    }
    listHome = 0
  }
}
