import Foundation

/// A second file, which imports Foundation alone: the names are the library's all the same.
public final class Decoder: Sendable {
  public let queue: OperationQueue

  public init(quality: QualityOfService) {
    queue = OperationQueue()
    queue.qualityOfService = quality
  }

  public func decode(_ data: Data, then last: BlockOperation) -> DecodeOperation {
    let operation = DecodeOperation(data)
    last.addDependency(operation)
    queue.addOperation(operation)
    return operation
  }
}
