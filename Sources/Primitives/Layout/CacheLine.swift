/// Distance that keeps two hot words from sharing a cache line: two lines of 64 bytes, because Intel's adjacent-line
/// prefetcher fetches pairs.
package enum CacheLine {
  package static let bytes = 128

  /// The number of bytes in the cache lines that hold this number.
  static func rounded(_ size: Int) -> Int { (size + bytes - 1) / bytes * bytes }
}

/// A value alone on its cache line, in memory of its own at a stable address.
///
/// Class instances are only 16-byte aligned, so hot shared words live behind a pointer. The owner calls `deallocate`.
@usableFromInline
package struct PaddedPointer<Value: ~Copyable>: @unchecked Sendable {
  // Sendable: the pointer never changes; the value that it points to is an atomic, or guarded by its user's own rule.
  @usableFromInline package let pointer: UnsafeMutablePointer<Value>

  package init(_ value: consuming Value) {
    pointer = UnsafeMutableRawPointer.allocate(
      byteCount: CacheLine.rounded(MemoryLayout<Value>.stride), alignment: CacheLine.bytes
    ).bindMemory(to: Value.self, capacity: 1)
    pointer.initialize(to: value)
  }

  package func deallocate() {
    pointer.deinitialize(count: 1)
    UnsafeMutableRawPointer(pointer).deallocate()
  }
}
