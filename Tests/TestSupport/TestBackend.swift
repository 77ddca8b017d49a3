import DeterministicOperations
import OperationBackends

/// A backend as the suites see it: a name and a way to make a fresh one.
public struct TestBackend: Sendable, CustomStringConvertible {
  public let name: String
  /// Bodies that block do not keep the other operations of a limited queue from running.
  public let compensatesBlockedBodies: Bool
  /// Starts ready operations by priority when it has one worker.
  public let isOrdered: Bool
  /// Whether another thread takes the place of a waiting one: nothing runs on the waiter's stack.
  public var replacesWaitingThreads = true
  /// How many operations a test about large numbers may use: a thread for each takes its time. A million on one backend
  /// is enough, since the graph of operations does not know what runs them.
  public let manyReady: Int
  let make: @Sendable (_ workers: Int, _ fairnessInterval: Int) -> any Backend
  let shutDown: @Sendable (any Backend) -> Void

  public var description: String { name }

  /// A fresh backend; it is shut down when the body returns.
  public func withBackend<Result>(
    workers: Int = 2, fairnessInterval: Int = Fairness.defaultInterval, _ body: (any Backend) throws -> Result
  ) throws -> Result {
    let backend = make(workers, fairnessInterval)
    let result = try body(backend)
    let shutDown = shutDown
    try inTime("the \(name) backend to shut down") { shutDown(backend) }
    return result
  }

  /// A fresh backend that nobody shuts down: for a process that ends by itself.
  public func leftRunning(workers: Int = 2) -> any Backend { make(workers, Fairness.defaultInterval) }

  /// A queue on a fresh backend.
  public func withQueue<Result>(workers: Int = 2, _ body: (OperationQueue) throws -> Result) throws -> Result {
    try withBackend(workers: workers) { backend in try body(OperationQueue(backend: backend)) }
  }

  /// Two queues on one fresh backend.
  public func withQueues<Result>(
    workers: Int = 2, _ body: (OperationQueue, OperationQueue) throws -> Result
  ) throws -> Result {
    try withBackend(workers: workers) { backend in
      try body(OperationQueue(backend: backend), OperationQueue(backend: backend))
    }
  }

  /// Runs the body inside an operation on a fresh backend: for what needs no queue, but happens on a worker too.
  public func onWorker<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
    try withQueue { queue in
      let outcome = Monitor<Swift.Result<Result, any Error>?>(nil)
      queue.addOperation {
        let result = Swift.Result { try body() }
        outcome.with { $0 = result }
      }
      guard outcome.wait(until: { $0 != nil }), let result = outcome.value else {
        throw TimedOut("the body on a worker of \(name)", seconds: patience, file: #fileID, line: #line)
      }
      return try result.get()
    }
  }

  public static let stealing = TestBackend(
    name: "stealing", compensatesBlockedBodies: true, isOrdered: true, manyReady: 1_000_000,
    make: { StealingBackend(workers: $0, fairnessInterval: $1) }, shutDown: { ($0 as? StealingBackend)?.shutdown() })

  public static let threadPool = TestBackend(
    name: "threadpool", compensatesBlockedBodies: true, isOrdered: true, manyReady: 200_000,
    make: { ThreadPoolBackend(workers: $0, fairnessInterval: $1) }, shutDown: { ($0 as? ThreadPoolBackend)?.shutdown() }
  )

  public static let dispatch = TestBackend(
    name: "dispatch", compensatesBlockedBodies: false, isOrdered: true, manyReady: 200_000,
    make: { DispatchBackend(workers: $0, fairnessInterval: $1) }, shutDown: { _ in })

  /// Bodies of the suites block in gates of their own, so the patience is short.
  public static let deterministic = TestBackend(
    name: "deterministic", compensatesBlockedBodies: true, isOrdered: true, manyReady: 100_000,
    make: {
      DeterministicBackend(workers: $0, seed: 1, fairnessInterval: $1, patience: .milliseconds(1))
    }, shutDown: { ($0 as? DeterministicBackend)?.shutdown() })

  public static let sample = TestBackend(
    name: "sample", compensatesBlockedBodies: true, isOrdered: false, manyReady: 20_000,
    make: { _, _ in ThreadPerJobBackend() }, shutDown: { _ in })
}

extension TestBackend {
  /// One line here puts a backend under the whole conformance suite.
  static let all: [TestBackend] = [.stealing, .threadPool, .dispatch, .deterministic, .sample]
}

/// The backends under test.
public let allBackends: [TestBackend] = TestStrategies.fromEnvironment ?? TestBackend.all

/// The backends that run n blocking bodies at a time whatever their worker count.
public let compensatingBackends = allBackends.filter(\.compensatesBlockedBodies)

extension Operation {
  /// `waitUntilFinished`, but a hang fails the test, and says why the operation does not start.
  public func finishInTime(
    _ what: String? = nil, seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    let what = what ?? "\(self) to finish"
    do {
      try inTime(what, seconds: seconds, file: file, line: line) { self.waitUntilFinished() }
    } catch let error as TimedOut {
      throw error.explained(by: whyNotStarted().description)
    }
  }
}

extension OperationQueue {
  /// `waitUntilAllOperationsAreFinished`, but a hang fails the test, and says what keeps the queue.
  public func drainInTime(
    _ what: String = "the queue to drain", seconds: Double = patience, file: StaticString = #fileID, line: Int = #line
  ) throws {
    do {
      try inTime(what, seconds: seconds, file: file, line: line) { self.waitUntilAllOperationsAreFinished() }
    } catch let error as TimedOut {
      throw error.explained(by: diagnosis().description)
    }
  }
}
