/// The memory allocator of the timed processes. Times on different allocators are never compared unless the user asks.
package enum Allocator: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
  /// The allocator of the C library.
  case system
  /// jemalloc, preloaded into every timed process.
  case jemalloc

  package var description: String { rawValue }
}
