import BothImportsLibrary
import Foundation
import Operations
import TestSupport
import Testing

/// `Aliases.swift` beside this file says which classes are meant.
@Suite("A module that imports Foundation and Operations")
struct BothImportsTests {
  @Test("the typealiases are enough", arguments: allBackends)
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

  @Test("a library with public typealiases, and a user of it")
  func library() throws {
    let decoder = Decoder(quality: .utility)
    let last = BlockOperation {}
    let decoding = decoder.decode(Data(#"{"a": 1}"#.utf8), then: last)
    let operation: Operations.Operation = decoding
    decoder.queue.addOperation(last)
    try decoder.queue.drainInTime()
    #expect(operation.isFinished && decoding.qualityOfService == .userInitiated)
    #expect((try? decoding.result?.get()) == ["a": 1])
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
