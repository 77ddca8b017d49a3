public import Foundation
public import Operations

// By name, since the raw values of Foundation on Linux are not those of Apple's systems, which Operations has.

/// A quality of service of Foundation's that is made from that of Operations.
extension Foundation.QualityOfService {
  /// Converts the quality of service for a `Thread` of Foundation's.
  public init(_ quality: Operations.QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      }
  }
}

/// A quality of service of Operations' that is made from that of Foundation.
extension Operations.QualityOfService {
  /// Makes the quality of service from that of a `Thread` of Foundation's.
  public init(_ quality: Foundation.QualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      @unknown default: .default
      }
  }
}
