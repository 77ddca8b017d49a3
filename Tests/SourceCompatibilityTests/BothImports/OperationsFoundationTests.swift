import Foundation
import FoundationNetworking
import Operations
import OperationsFoundation
import TestSupport
import Testing

/// What the product `OperationsFoundation` adds for programs that use both modules.
@Suite("Bridges to Foundation")
struct OperationsFoundationTests {
  /// An operation that is the delegate of its own session.
  private final class Load: Operation, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable: the log and the gate synchronise themselves.
    let delegateQueue = OperationQueue()
    let calls = EventLog<Bool>()
    let ended = Gate()

    override func main() {
      delegateQueue.maxConcurrentOperationCount = 1
      let session = URLSession(
        configuration: .ephemeral, delegate: self, delegateQueue: ForwardingQueue(to: delegateQueue))
      // No request is sent: the address has a scheme that nobody serves, and the session says so to the delegate.
      session.dataTask(with: URL(string: "operations-nothing://here")!).resume()
      try? ended.wait("the session ends the task")
      session.invalidateAndCancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      calls.append(OperationQueue.current === delegateQueue && error != nil)
      ended.open()
    }
  }

  @Test("an operation is the delegate of a session, and is called in a queue of this library")
  func delegate() throws {
    let queue = OperationQueue()
    let load = Load()
    queue.addOperation(load)
    try queue.drainInTime()
    #expect(load.calls.events == [true])
  }

  @Test("an operation is an object for Foundation, equal to itself only")
  func objects() {
    let operation: any NSObjectProtocol = Operation()
    let other = Operation()
    #expect(
      operation.isEqual(operation) && !operation.isEqual(other) && !operation.isEqual("text") && !operation.isEqual(nil)
    )
    #expect(Set([other.hash, other.hash]).count == 1)
  }

  @Test("a notification is observed in a queue of this library, and the poster waits for the block")
  func notifications() {
    let name = Notification.Name("OperationsFoundationTests")
    let queue = OperationQueue()
    let seen = EventLog<Bool>()
    let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: queue) { notification in
      seen.append(OperationQueue.current === queue && notification.name == name)
    }
    for count in 1...10 {
      NotificationCenter.default.post(name: name, object: nil)
      #expect(seen.events == Array(repeating: true, count: count))
    }
    NotificationCenter.default.removeObserver(token)
    NotificationCenter.default.post(name: name, object: nil)
    #expect(seen.count == 10)
  }

  /// Observes a notification on a queue, and counts it.
  private func observe(
    _ name: String, on queue: OperationQueue, _ block: @escaping @Sendable () -> Void = {}
  ) -> (name: Notification.Name, token: any NSObjectProtocol, seen: Counter) {
    let (name, seen) = (Notification.Name("OperationsFoundationTests.\(name)"), Counter())
    let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: queue) { _ in
      block()
      seen.increment()
    }
    return (name, token, seen)
  }

  @Test("a notification of the main queue that is posted on the main thread is delivered in place")
  @MainActor func onTheMainThread() {
    let observed = observe("main", on: .main)
    for count in 1...3 {
      NotificationCenter.default.post(name: observed.name, object: nil)
      #expect(observed.seen.value == count)
    }
    NotificationCenter.default.removeObserver(observed.token)
  }

  @Test(
    "a notification that is posted in its observer's queue is delivered in place, also from a block that was told of one"
  )
  func inTheObservingQueue() throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let (innerName, innerToken, innerSeen) = observe("inner", on: queue)
    let (outerName, outerToken, outerSeen) = observe("outer", on: queue) {
      NotificationCenter.default.post(name: innerName, object: nil)
    }
    queue.addOperation {
      NotificationCenter.default.post(name: outerName, object: nil)
      #expect(outerSeen.value == 1 && innerSeen.value == 1)
    }
    try queue.drainInTime()
    try inTime("a post from another thread") { NotificationCenter.default.post(name: outerName, object: nil) }
    #expect(outerSeen.value == 2 && innerSeen.value == 2)
    for token in [innerToken, outerToken] { NotificationCenter.default.removeObserver(token) }
  }

  @Test("a forwarding queue hands on blocks, barriers, operations and lists, and waits for all of them")
  func forwarding() throws {
    let target = OperationQueue()
    let forwarding = ForwardingQueue(to: target)
    let places = EventLog<Bool>()
    let note: @Sendable () -> Void = { places.append(OperationQueue.current === target) }
    try inTime("the operations of the forwarding queue") {
      for round in 1...20 {
        forwarding.addOperation(note)
        forwarding.addOperation(Foundation.BlockOperation(block: note))
        forwarding.addBarrierBlock(note)
        forwarding.addOperations([Foundation.BlockOperation(block: note)], waitUntilFinished: false)
        let awaited = (0..<2).map { _ in Foundation.BlockOperation(block: note) }
        forwarding.addOperations(awaited, waitUntilFinished: true)
        #expect(awaited.allSatisfy { $0.isFinished })
        forwarding.waitUntilAllOperationsAreFinished()
        #expect(places.count == 6 * round)
      }
    }
    #expect(places.events.allSatisfy { $0 })
    forwarding.maxConcurrentOperationCount = 3
    forwarding.isSuspended = true
    forwarding.name = "forwarded"
    #expect(target.maxConcurrentOperationCount == 3 && target.isSuspended && target.name == "forwarded")
    #expect(forwarding.isSuspended && forwarding.maxConcurrentOperationCount == 3)
  }

  @Test("a forwarded operation waits for its dependencies, or is cancelled")
  func forwardedDependencies() throws {
    let target = OperationQueue()
    target.maxConcurrentOperationCount = 1
    let forwarding = ForwardingQueue(to: target)
    let order = EventLog<String>()
    let gate = Gate()
    let first = Foundation.BlockOperation {
      gate.pass()
      order.append("first")
    }
    let second = Foundation.BlockOperation { order.append("second") }
    let cancelled = Foundation.BlockOperation { order.append("cancelled") }
    for operation in [second, cancelled] { operation.addDependency(first) }
    forwarding.addOperations([second, cancelled], waitUntilFinished: false)
    forwarding.addOperation { order.append("block") }
    try order.wait(count: 1, "the block, which does not wait behind them")
    // A dependency that is forwarded later, and a cancellation meanwhile. The block may still be in the list, behind.
    target.operations[1].cancel()
    try inTime("the cancelled operation") { cancelled.waitUntilFinished() }
    Foundation.OperationQueue().addOperation(first)
    gate.open()
    try inTime("the operations") { forwarding.waitUntilAllOperationsAreFinished() }
    #expect(order.events == ["block", "first", "second"])
    #expect(second.isFinished && cancelled.isCancelled)
  }

  @Test("an operation that is forwarded and whose own isReady stays false: a trap that names the operation")
  func forwardedAndNotReady() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class NeverReady: Foundation.Operation, @unchecked Sendable {
        override var isReady: Bool { false }
      }
      let queue = OperationQueue()
      ForwardingQueue(to: queue).addOperation(NeverReady())
      await queue.drained()
    }
    let words = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(words.contains("NeverReady") && words.contains("was added to a ForwardingQueue and is not ready"))
  }

  /// Goes on after its start.
  private final class Goes: Foundation.Operation, @unchecked Sendable {
    // Sendable: the flag lies in a lock.
    private let ended = Monitor(false)
    private let begin: @Sendable (Goes) -> Void
    init(_ begin: @escaping @Sendable (Goes) -> Void) { self.begin = begin }
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { ended.value }
    override func start() { begin(self) }
    func end() {
      willChangeValue(forKey: "isFinished")
      ended.with { $0 = true }
      didChangeValue(forKey: "isFinished")
    }
  }

  @Test("a forwarded operation that goes on after its start keeps its place")
  func forwardedAsynchronous() throws {
    let target = OperationQueue()
    target.maxConcurrentOperationCount = 1
    let forwarding = ForwardingQueue(to: target)
    let order = EventLog<String>()
    forwarding.addOperation(
      Goes { operation in
        startThread {
          giveOthersAChance()
          order.append("end")
          operation.end()
        }
      })
    forwarding.addOperation { order.append("next") }
    try inTime("the operations") { forwarding.waitUntilAllOperationsAreFinished() }
    #expect(order.events == ["end", "next"])
  }

  @Test("each quality of service has the one of the same name")
  func qualities() {
    for quality in QualityOfService.allCases {
      #expect(QualityOfService(Foundation.QualityOfService(quality)) == quality)
    }
    #expect(Foundation.QualityOfService(QualityOfService.utility) == .utility)
  }
}
