import Foundation
import Operations

/// Decodes what Foundation encoded.
open class DecodeOperation: Operation, @unchecked Sendable {
  private let data: Data
  /// What was decoded; nil before the operation has run. It is read after the operation has finished.
  public private(set) var result: Result<[String: Int], any Error>?

  public init(_ data: Data) {
    self.data = data
    super.init()
    name = "decoding of \(data.count) bytes"
    queuePriority = .high
    qualityOfService = .userInitiated
  }

  open override func main() { result = Result { try JSONDecoder().decode([String: Int].self, from: data) } }
}
