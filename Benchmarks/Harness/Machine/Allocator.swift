/// The memory allocator of the timed processes. Times on different ones are never compared unasked.
package enum Allocator: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
  /// The C library's.
  case system
  /// Preloaded into every timed process.
  case jemalloc

  package var description: String { rawValue }
}
