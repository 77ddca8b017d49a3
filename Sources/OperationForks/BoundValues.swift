import CPlatform

/// Task-local values that outlive the code which bound them: a copy of what was bound where a child of a scope was
/// spawned.
final class BoundValues: @unchecked Sendable {
  // Sendable: nothing changes before the end. A value may be bound only if its type is `Sendable`.

  /// The newest item, as the runtime keeps items (`CPlatformValues.c`): the next item, the key, the type and the value.
  private(set) var newest: UnsafeMutableRawPointer?

  /// No values, where the scope has some.
  static let none = BoundValues()

  private init() {}

  /// - Parameter item: the newest item of the list that is copied. O(values).
  init(copying item: UnsafeMutableRawPointer) {
    var item: UnsafeMutableRawPointer? = item
    var value = cplatform_value()
    var keys: [UInt] = []
    var last: UnsafeMutableRawPointer?
    while cplatform_next_value(&item, &value) {
      // An older value of the same key is hidden.
      if keys.contains(value.key) { continue }
      keys.append(value.key)
      let copy = Self.copy(value, as: Self.type(value.type))
      if let last { last.storeBytes(of: UInt(bitPattern: copy), as: UInt.self) } else { newest = copy }
      last = copy
    }
  }

  deinit {
    var item = newest
    var value = cplatform_value()
    while let here = item, cplatform_next_value(&item, &value) {
      Self.destroy(value, as: Self.type(value.type))
      cplatform_free(here)
    }
  }

  private static let header = 3 * MemoryLayout<UInt>.size

  private static func type(_ metadata: UInt) -> Any.Type { unsafeBitCast(metadata, to: Any.Type.self) }

  /// Where the value stands.
  private static func place<Value>(_ memory: UInt, of type: Value.Type) -> UnsafeMutablePointer<Value> {
    let mask = UInt(MemoryLayout<Value>.alignment - 1)
    return UnsafeMutablePointer(bitPattern: (memory + mask) & ~mask).unsafelyUnwrapped
  }

  private static func destroy<Value>(_ value: cplatform_value, as type: Value.Type) {
    place(value.memory, of: type).deinitialize(count: 1)
  }

  private static func copy<Value>(_ value: cplatform_value, as type: Value.Type) -> UnsafeMutableRawPointer {
    let offset = (header + MemoryLayout<Value>.alignment - 1) & ~(MemoryLayout<Value>.alignment - 1)
    let item = cplatform_allocate(offset + MemoryLayout<Value>.size)
    item.storeBytes(of: 0, as: UInt.self)
    item.storeBytes(of: value.key, toByteOffset: 8, as: UInt.self)
    item.storeBytes(of: value.type, toByteOffset: 16, as: UInt.self)
    (item + offset).initializeMemory(as: type, from: place(value.memory, of: type), count: 1)
    return item
  }
}
