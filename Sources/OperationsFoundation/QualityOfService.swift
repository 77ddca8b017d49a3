public import Foundation
public import Operations

// By name, since the raw values of Foundation on Linux are not those of Apple's systems, which Operations has.

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
