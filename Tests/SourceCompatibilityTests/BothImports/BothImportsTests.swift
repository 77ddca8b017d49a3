import Foundation
import Operations
import TestSupport
import Testing

// A file that needs Foundation for other things names these classes with three lines.
typealias Operation = Operations.Operation
typealias BlockOperation = Operations.BlockOperation
typealias OperationQueue = Operations.OperationQueue

/// Decodes on a queue of this library what Foundation encoded.
private final class DecodeOperation: Operation, @unchecked Sendable {
  private let data: Data
  private(set) var result: Result<[String: Int], any Error>?

  init(_ data: Data) {
    self.data = data
    super.init()
    name = "decoding of \(data.count) bytes"
    queuePriority = .high
    qualityOfService = .userInitiated
  }

  override func main() { result = Result { try JSONDecoder().decode([String: Int].self, from: data) } }
}

@Suite("A file that imports Foundation and Operations")
struct BothImportsTests {
  @Test("three typealiases are enough", arguments: allBackends)
  func both(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let good = DecodeOperation(Data(#"{"a": 1, "b": 2}"#.utf8))
      let bad = DecodeOperation(Data("nonsense".utf8))
      let sum = EventLog<Int>()
      let last = BlockOperation {
        sum.append(((try? good.result?.get()) ?? [:]).values.reduce(0, +))
      }
      last.addDependency(good)
      last.addDependency(bad)
      queue.addOperations([last, bad, good], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(sum.events == [3])
      #expect(throws: DecodingError.self) { try bad.result?.get() }
    }
  }

  @Test("the asynchronous base class with a Foundation callback")
  func asynchronous() throws {
    let queue = OperationQueue()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("operations-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let write = AsynchronousOperation { operation in
      let writer = Foundation.Thread {
        try? Data("written".utf8).write(to: file)
        operation.finish()
      }
      writer.start()
    }
    let text = EventLog<String?>()
    let read = BlockOperation { text.append(try? String(contentsOf: file, encoding: .utf8)) }
    read.addDependency(write)
    queue.addOperations([read, write], waitUntilFinished: false)
    try queue.drainInTime()
    #expect(text.events == ["written"])
    #expect(OperationQueue.current == nil || OperationQueue.current === OperationQueue.main)
  }
}
