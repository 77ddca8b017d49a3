public import Foundation
public import Operations

/// Makes a subclass of `Operation` fit for the delegate protocols of Foundation, which ask for `NSObjectProtocol`:
/// `class Download: Operation, URLSessionDownloadDelegate`. An operation is equal to itself only.
extension Operations.Operation: NSObjectProtocol {
  public func isEqual(_ object: Any?) -> Bool { (object as? Operations.Operation) === self }
  public var hash: Int { ObjectIdentifier(self).hashValue }
  public func `self`() -> Self { self }
  public func isProxy() -> Bool { false }
}
