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

  @Test("each quality of service has the one of the same name")
  func qualities() {
    for quality in QualityOfService.allCases {
      #expect(QualityOfService(Foundation.QualityOfService(quality)) == quality)
    }
    #expect(Foundation.QualityOfService(QualityOfService.utility) == .utility)
  }
}
