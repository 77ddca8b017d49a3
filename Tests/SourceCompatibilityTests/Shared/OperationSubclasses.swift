// Written for Foundation: apart from the import, nothing in this file knows of another library.

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// The asynchronous base class of a thousand applications: two flags behind a lock, posted by key string.
class AsyncOperation: Operation, @unchecked Sendable {
  private let queue = DispatchQueue(label: "AsyncOperation.flags", attributes: .concurrent)
  private var _isExecuting = false
  private var _isFinished = false

  override var isAsynchronous: Bool { true }

  override private(set) var isExecuting: Bool {
    get { queue.sync { _isExecuting } }
    set {
      willChangeValue(forKey: "isExecuting")
      queue.sync(flags: .barrier) { _isExecuting = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override private(set) var isFinished: Bool {
    get { queue.sync { _isFinished } }
    set {
      willChangeValue(forKey: "isFinished")
      queue.sync(flags: .barrier) { _isFinished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override func start() {
    guard !isCancelled else {
      isFinished = true
      return
    }
    isExecuting = true
    main()
  }

  func finish() {
    isExecuting = false
    isFinished = true
  }
}

/// A download that calls back on another queue.
final class DownloadOperation: AsyncOperation, @unchecked Sendable {
  private(set) var contents: String?
  private let address: String

  init(_ address: String) {
    self.address = address
    super.init()
    name = "download of \(address)"
  }

  override func main() {
    DispatchQueue.global(qos: .utility).async { [self] in
      contents = "contents of \(address)"
      finish()
    }
  }
}

/// An asynchronous operation that tells its state by key paths, and keeps it in an enumeration.
final class KeyPathOperation: Operation, @unchecked Sendable {
  private enum State { case waiting, executing, finished }
  private let lock = DispatchQueue(label: "KeyPathOperation.state")
  private var _state = State.waiting
  private var state: State {
    get { lock.sync { _state } }
    set {
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      lock.sync { _state = newValue }
      didChangeValue(for: \.isFinished)
      didChangeValue(for: \.isExecuting)
    }
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    DispatchQueue.global().async { self.state = .finished }
  }
}

/// Overrides everything that may be overridden.
final class EverythingOverridden: Operation, @unchecked Sendable {
  private(set) var calls: Set<String> = []

  override init() {
    super.init()
    queuePriority = .high
    qualityOfService = .userInitiated
  }

  override func start() {
    calls.insert("start")
    super.start()
  }
  override func main() { calls.insert("main") }
  override func cancel() {
    calls.insert("cancel")
    super.cancel()
  }
  override var isCancelled: Bool { super.isCancelled }
  override var isExecuting: Bool { super.isExecuting }
  override var isFinished: Bool { super.isFinished }
  override var isReady: Bool { super.isReady }
  override var isAsynchronous: Bool { super.isAsynchronous }
  override func addDependency(_ operation: Operation) {
    calls.insert("addDependency")
    super.addDependency(operation)
  }
  override func removeDependency(_ operation: Operation) {
    calls.insert("removeDependency")
    super.removeDependency(operation)
  }
  override var dependencies: [Operation] { super.dependencies }
  override var queuePriority: Operation.QueuePriority {
    get { super.queuePriority }
    set { super.queuePriority = newValue }
  }
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set { super.completionBlock = newValue }
  }
  override func waitUntilFinished() { super.waitUntilFinished() }
  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }
  override var name: String? {
    get { super.name }
    set { super.name = newValue }
  }
}

/// A block operation may be subclassed as well.
final class CountingBlockOperation: BlockOperation, @unchecked Sendable {
  private(set) var added = 0

  override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    added += 1
    super.addExecutionBlock(block)
  }
}

/// `init(block:)` is a convenience initializer: a subclass may declare its own without `override`.
final class PrefixedBlockOperation: BlockOperation, @unchecked Sendable {
  let prefix: String

  init(prefix: String = "", block: @escaping @Sendable () -> Void) {
    self.prefix = prefix
    super.init()
    addExecutionBlock(block)
  }

  convenience init(block: @escaping @Sendable () -> Void) { self.init(prefix: "p", block: block) }
}

/// A subclass without initializers of its own inherits all of them.
class PlainBlockSubclass: BlockOperation, @unchecked Sendable {}

extension BlockOperation {
  convenience init(times count: Int, block: @escaping @Sendable () -> Void) {
    self.init(block: block)
    for _ in 1..<count { addExecutionBlock(block) }
  }
}

/// A direct subclass without initializers inherits a program's own convenience initializers, too.
final class LabelledOperation: Operation, @unchecked Sendable {}

extension Operation {
  convenience init(label: String) {
    self.init()
    name = label
  }
}
