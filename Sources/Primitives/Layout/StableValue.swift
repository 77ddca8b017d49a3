extension UnsafeMutablePointer where Pointee: ~Copyable {
  /// Puts a value into memory of its own: at an address that stays, or apart from values that other threads touch. The
  /// owner calls `free()`.
  @inlinable @inline(__always)
  package static func holding(_ value: consuming Pointee) -> UnsafeMutablePointer {
    let pointer = allocate(capacity: 1)
    pointer.initialize(to: value)
    return pointer
  }

  /// Destroys the one value that `holding(_:)` made, and frees its memory.
  @inlinable @inline(__always)
  package func free() {
    deinitialize(count: 1)
    deallocate()
  }
}
