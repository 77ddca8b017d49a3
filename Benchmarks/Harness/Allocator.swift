/// The memory allocator of the timed processes. Times on different ones are never compared unasked.
public enum Allocator: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
  /// The C library's.
  case system
  /// Preloaded into every timed process.
  case jemalloc

  public var description: String { rawValue }
}
