import CPlatform
import OperationJobs
import Primitives

/// Operations that became ready at one moment, in lists. The operations of the first backend are one list. The
/// operations of one queue with a controller are another list, so that the controller orders them together. The
/// operations that have to be asked elsewhere whether they are ready are the third.
///
/// A batch is part of a `Handover`, which says when each list goes where.
struct ReadyBatch: ~Copyable {
  private var list = JobFIFO()
  /// Identity of the backend that `list` is for; 0 while `list` is empty.
  private var listHome: UInt32 = 0
  /// One bit for each level among the operations that `list` got.
  private var listLevels: UInt32 = 0
  /// The first operation that `list` got: its link is in use here, so the operation cannot leave its queue.
  private var listOperation: UInt = 0
  /// The backend on whose thread this batch is: the thread's next job may be taken from the list.
  private let home: UInt32
  /// A queue that the caller keeps alive, or 0.
  private let keptQueue: UInt

  /// Entries for the controller of one queue, by link: so each entry holds that queue.
  private var admitted = JobFIFO()
  private(set) var admittedQueue: UInt = 0

  /// Operations without unfinished dependencies, to be asked elsewhere.
  private var unasked: [Operation]?

  /// - Parameters:
  ///   - home: see `home`; 0 when this thread is no backend's.
  ///   - keptQueue: a queue that the caller keeps alive; its operations are handed over without a reference to it.
  @inline(__always)
  init(home: UInt32, keptQueue: OperationQueue?) {
    self.home = home
    self.keptQueue = keptQueue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
  }

  // MARK: - The list for a backend

  @inline(__always)
  mutating func add(_ operation: Operation) {
    assert(operation.stateNow.has(StateWord.linked), "an operation is handed over by a link that is not in use")
    let operationHome = operation.home.load(ordering: .relaxed)
    if listHome == 0 {
      listHome = operationHome
      listOperation = operation.word
    }
    guard listHome == operationHome else { return submitAlone(operation) }
    listLevels |= 1 << UInt32(operation.level)
    list.append(operation.word)
  }

  /// The operation is of another backend than the list.
  @inline(never)
  private func submitAlone(_ operation: Operation) {
    if let queue = operation.retainedQueue() { queue.backend.submit(Job(word: operation.word)) }
  }

  var readyCount: Int { list.count }

  /// Hands the list over.
  /// - Parameter frame: where the next job of this thread goes, when the thread may run a job.
  @inline(__always)
  mutating func submitList(frame: UnsafeMutablePointer<LaunchFrame>?) {
    if let frame, frame.pointee.successor == 0 { frame.pointee.successor = takeSuccessor() }
    if !list.isEmpty { flushList() }
    listHome = 0
    listLevels = 0
  }

  /// The most urgent entry, first of its level, for this thread itself to run; 0 when the list has no entry of this
  /// thread's backend.
  @inline(__always)
  private mutating func takeSuccessor() -> UInt {
    guard home != 0, listHome == home, !list.isEmpty else { return 0 }
    return listLevels & (listLevels &- 1) == 0 ? list.popFirst() : takeMostUrgent()
  }

  private mutating func takeMostUrgent() -> UInt {
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

  @inline(never)
  private mutating func flushList() {
    // The first operation's entry is still here, or this thread runs the entry next: in both cases the operation is
    // in its queue.
    let first: Unmanaged<Operation> = Operation.unmanaged(listOperation)
    let queue = first._withUnsafeGuaranteedRef { $0.queueWord.load(ordering: .acquiring) }
    if queue != 0, queue == keptQueue {
      let kept = OperationQueue.unmanaged(queue)
      return kept._withUnsafeGuaranteedRef { $0.withBackend { submitList(to: $0) } }
    }
    guard let backend = first._withUnsafeGuaranteedRef({ $0.retainedQueue()?.backend }) else { return }
    submitList(to: backend)
  }

  private mutating func submitList(to backend: any Backend) {
    if list.count == 1 {
      backend.submit(Job(word: list.popFirst()))
    } else {
      var all = JobFIFO()
      all.append(contentsOf: &list)
      backend.submit(contentsOf: JobList(all))
    }
  }

  // MARK: - The list for a controller

  /// - Parameter queue: the word of the operation's queue. Entries of another queue have been taken.
  mutating func admit(_ operation: Operation, to queue: UInt) {
    assert(admittedQueue == 0 || admittedQueue == queue, "a controller's list has operations of two queues")
    admittedQueue = queue
    admitted.append(operation.word)
  }

  /// Moves the controller's list.
  /// - Returns: the controller's queue, or nil when the list is empty.
  mutating func takeAdmitted(into entries: inout JobFIFO) -> OperationQueue? {
    guard admittedQueue != 0 else { return nil }
    // The reference is taken while the entries hold the queue: once the controller has the entries, they may run and
    // leave.
    let queue = OperationQueue.retained(admittedQueue)
    entries.append(contentsOf: &admitted)
    admittedQueue = 0
    return queue
  }

  // MARK: - The list of operations to be asked elsewhere

  /// - Parameter operation: has no unfinished dependency; nobody is responsible for its start yet.
  mutating func collect(_ operation: Operation) {
    if unasked == nil { unasked = [operation] } else { unasked?.append(operation) }
  }

  mutating func takeUnasked() -> [Operation]? {
    defer { unasked = nil }
    return unasked
  }

  /// Whether anything is here beside the list for a backend.
  @inline(__always)
  var hasMore: Bool { admittedQueue != 0 || unasked != nil }
}
