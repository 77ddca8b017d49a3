/// A subject that can wait for one operation, from outside or from inside another operation.
public protocol Waiting {
  associatedtype Item: AnyObject & Sendable

  /// Blocks the calling thread until the operation has finished.
  static func wait(for item: Item)
}
