import TestSupport
import Testing

@testable import OperationCore

@Suite struct ObservableKeyTests {
  private final class HandWritten: Operation, @unchecked Sendable {
    override var isFinished: Bool { false }
    override var isReady: Bool { true }
    override var isExecuting: Bool { false }
    override var isAsynchronous: Bool { true }
    var progress: Int { 0 }
  }

  private final class HandWrittenQueue: OperationQueue, @unchecked Sendable {
    override var operationCount: Int { 0 }
    var depth: Int { 0 }
  }

  private static let names: [(ObservableKey, [String])] = [
    (.isCancelled, ["isCancelled", "cancelled"]), (.isAsynchronous, ["isAsynchronous", "asynchronous"]),
    (.isConcurrent, ["isConcurrent", "concurrent"]), (.isExecuting, ["isExecuting", "executing"]),
    (.isFinished, ["isFinished", "finished"]), (.isReady, ["isReady", "ready"]), (.dependencies, ["dependencies"]),
    (.queuePriority, ["queuePriority"]), (.completionBlock, ["completionBlock"]),
  ]

  @Test func `each key has its name, with and without "is"`() {
    #expect(Self.names.map(\.0) == ObservableKey.allCases)
    for (key, names) in Self.names {
      for name in names { #expect(ObservableKey(name: name) == key) }
    }
  }

  @Test(arguments: ["", "is", "Finished", "isfinished", "name", "isdependencies", "state"])
  func `another name is none of them`(name: String) {
    #expect(ObservableKey(name: name) == nil)
  }

  @Test func `key paths of the base class`() {
    let paths: [PartialKeyPath<Operation>] = [
      \.isCancelled, \.isAsynchronous, \.isConcurrent, \.isExecuting, \.isFinished, \.isReady, \.dependencies,
      \.queuePriority, \.completionBlock,
    ]
    #expect(paths.map { ObservableKey($0) } == ObservableKey.allCases)
    #expect(ObservableKey(\Operation.name as PartialKeyPath<Operation>) == nil)
    #expect(ObservableKey(\Operation.threadPriority as PartialKeyPath<Operation>) == nil)
  }

  @Test func `key paths that spell a subclass, of properties that it inherits`() {
    #expect(ObservableKey(\BlockOperation.isFinished as PartialKeyPath<BlockOperation>) == .isFinished)
    #expect(ObservableKey(\BlockOperation.completionBlock as PartialKeyPath) == .completionBlock)
    typealias Path = PartialKeyPath<HandWritten>
    #expect(ObservableKey(\HandWritten.isCancelled as Path) == .isCancelled)
    #expect(ObservableKey(\HandWritten.dependencies as Path) == .dependencies)
    #expect(ObservableKey(\HandWritten.progress as Path) == nil)
  }

  @Test func `properties that a final subclass overrides can be observed and posted`() throws {
    let operation = HandWritten()
    let told = EventLog<String>()
    let tokens = [
      operation.observe(\.isFinished) { _, _ in told.append("finished") },
      operation.observe(\.isExecuting) { _, _ in told.append("executing") },
      operation.observe(\.isReady) { _, _ in told.append("ready") },
      operation.observe(\.isAsynchronous) { _, _ in told.append("asynchronous") },
    ]
    operation.didChangeValue(for: \.isExecuting)
    operation.didChangeValue(for: \.isAsynchronous)
    // On threads of the default backend.
    try told.wait(count: 2, "both changes")
    #expect(Set(told.events) == ["asynchronous", "executing"])
    for token in tokens { token.invalidate() }
  }

  @Test func `key paths of a generic subclass`() {
    typealias Call = InvocationOperation<Int, Void, Int>
    #expect(ObservableKey(\Call.isFinished as PartialKeyPath<Call>) == .isFinished)
    #expect(ObservableKey(\Call.isReady as PartialKeyPath<Call>) == .isReady)
  }

  @Test func `key paths of queues and their subclasses`() {
    let paths: [PartialKeyPath<OperationQueue>] = [
      \.operations, \.operationCount, \.maxConcurrentOperationCount, \.isSuspended, \.name,
    ]
    let keys: [ObservableQueueKey] = [.operations, .operationCount, .maxConcurrentOperationCount, .isSuspended, .name]
    #expect(paths.map { ObservableQueueKey($0) } == keys)
    #expect(ObservableQueueKey(\OperationQueue.progress as PartialKeyPath<OperationQueue>) == nil)
    #expect(ObservableQueueKey(\HandWrittenQueue.isSuspended as PartialKeyPath<HandWrittenQueue>) == .isSuspended)
    #expect(ObservableQueueKey(\HandWrittenQueue.depth as PartialKeyPath<HandWrittenQueue>) == nil)
  }

  @Test func `properties that a final subclass of a queue overrides can be observed`() {
    let queue = HandWrittenQueue(backend: HeldBackend())
    let told = Counter()
    let token = queue.observe(\.operationCount) { _, _ in told.increment() }
    queue.addOperation(Operation())
    #expect(told.value == 1)
    token.invalidate()
    queue.addOperation(Operation())
    #expect(told.value == 1)
  }

  @Test func `a post names whom to tell, and is remembered as the subclass's own`() {
    var list = ObserverList()
    let observers = [ObservableKey.isFinished, .isExecuting, .isFinished].map { key in
      let observer = Observer(of: Operation(), options: [], read: { $0.isFinished }, handler: { _, _ in })
      list.add(observer, for: key)
      return observer
    }
    #expect(!list.isOwnPost(.isFinished))
    #expect(
      list.post(.isFinished).map(ObjectIdentifier.init) == [observers[0], observers[2]].map(ObjectIdentifier.init))
    #expect(list.isOwnPost(.isFinished))
    #expect(!list.isOwnPost(.isReady) && !list.isOwnPost(.isExecuting))
    let all = [observers[1], observers[0], observers[2]]
    #expect(list.post(nil).map(ObjectIdentifier.init) == all.map(ObjectIdentifier.init))
    #expect(list.isOwnPost(.isReady) && list.isOwnPost(.isExecuting))
  }
}
