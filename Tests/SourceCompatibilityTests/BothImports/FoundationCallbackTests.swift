import Foundation
import FoundationNetworking
import Operations
import TestSupport
import Testing

/// The ways round where Foundation takes its own class of queue: the article on porting shows them.
@Suite("Foundation's callbacks on a queue of this library")
struct FoundationCallbackTests {
  @Test("a notification that is observed without a queue adds to ours")
  func notifications() throws {
    let name = Notification.Name("FoundationCallbackTests")
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let seen = EventLog<Int>()
    let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
      let number = note.userInfo?["number"] as? Int ?? -1
      queue.addOperation { seen.append(OperationQueue.current === queue ? number : -1) }
    }
    for number in 0..<20 { NotificationCenter.default.post(name: name, object: nil, userInfo: ["number": number]) }
    NotificationCenter.default.removeObserver(token)
    NotificationCenter.default.post(name: name, object: nil, userInfo: ["number": 99])
    try queue.drainInTime()
    #expect(seen.events == Array(0..<20))
  }

  /// Answers each request with two pieces, without a network.
  private final class Canned: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {
      let response = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: [:])!
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      for piece in ["first", "second"] { client?.urlProtocol(self, didLoad: Data(piece.utf8)) }
      client?.urlProtocolDidFinishLoading(self)
    }
    override func stopLoading() {}
  }

  /// Hands each call over to a queue of ours.
  private final class Receiver: NSObject, URLSessionDataDelegate {
    let queue = OperationQueue()
    let pieces = EventLog<String>()
    let finished = Gate()

    override init() { queue.maxConcurrentOperationCount = 1 }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      queue.addOperation { [pieces] in pieces.append(String(decoding: data, as: UTF8.self)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      queue.addOperation { [finished] in finished.open() }
    }
  }

  @Test("a session whose delegate hands over to ours")
  func sessions() throws {
    let receiver = Receiver()
    let delegateQueue = Foundation.OperationQueue()
    delegateQueue.maxConcurrentOperationCount = 1
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Canned.self]
    let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: delegateQueue)
    session.dataTask(with: URL(string: "http://localhost/")!).resume()
    try receiver.finished.wait("the session answers")
    session.finishTasksAndInvalidate()
    #expect(receiver.pieces.events.joined() == "firstsecond")
  }
}
