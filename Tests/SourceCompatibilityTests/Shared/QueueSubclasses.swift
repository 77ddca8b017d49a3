// Written for Foundation: apart from the import, nothing in this file knows of another library.

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// A queue that an application configured once, and that counts what goes through it.
final class ImageQueue: OperationQueue, @unchecked Sendable {
  private let lock = DispatchQueue(label: "ImageQueue.calls")
  private var _calls: [String] = []
  var calls: [String] { lock.sync { _calls } }
  private func note(_ call: String) { lock.sync { _calls.append(call) } }

  override init() {
    super.init()
    name = "images"
    maxConcurrentOperationCount = 1
    qualityOfService = QualityOfService.utility
  }

  convenience init(suspended: Bool) {
    self.init()
    isSuspended = suspended
  }

  override func addOperation(_ operation: Operation) {
    note("operation")
    super.addOperation(operation)
  }
  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    note("block")
    super.addOperation(block)
  }
  override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    note("operations")
    super.addOperations(operations, waitUntilFinished: wait)
  }
  override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    note("barrier")
    super.addBarrierBlock(barrier)
  }
  override func cancelAllOperations() {
    note("cancel")
    super.cancelAllOperations()
  }
  override func waitUntilAllOperationsAreFinished() {
    note("wait")
    super.waitUntilAllOperationsAreFinished()
  }
  override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set { super.maxConcurrentOperationCount = newValue }
  }
  override var isSuspended: Bool {
    get { super.isSuspended }
    set { super.isSuspended = newValue }
  }
  override var name: String? {
    get { super.name }
    set { super.name = newValue }
  }
  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }
}

/// Function signatures and stored properties as they occur in applications.
struct Pipeline {
  let queue: OperationQueue
  var pending: [ObjectIdentifier: Operation] = [:]
  var seen: Set<Operation> = []
  let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
  let qualities: [QualityOfService] = [.userInteractive, .userInitiated, .utility, .background, .default]

  init(queue: OperationQueue = OperationQueue()) {
    self.queue = queue
    queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
  }

  mutating func enqueue(_ operation: Operation, after dependencies: Operation...) {
    for each in dependencies { operation.addDependency(each) }
    pending[ObjectIdentifier(operation)] = operation
    seen.insert(operation)
    queue.addOperation(operation)
  }

  func hop(_ body: @escaping @Sendable () -> Void) {
    if OperationQueue.current == OperationQueue.main { body() } else { OperationQueue.main.addOperation(body) }
  }
}
