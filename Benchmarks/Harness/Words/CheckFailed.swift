/// The benchmark's check of its own result failed, so there is no number.
public struct CheckFailed: Error, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
