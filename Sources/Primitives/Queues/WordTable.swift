/// A hash table from non-zero words to non-zero words: open addressing, linear probing, at most half full. Not
/// synchronised.
///
/// The table is for addresses: the hash is multiplicative and has no secret, since nobody outside chooses an object's
/// address.
package struct WordTable: ~Copyable {
  private var slots: UnsafeMutablePointer<(key: UInt, value: UInt)>
  private var mask: Int
  package private(set) var count = 0

  /// - Parameter count: how many keys the table has room for at first; the table grows when more keys are set.
  package init(count: Int) {
    var capacity = 8
    while capacity < 2 * count + 2 { capacity *= 2 }
    mask = capacity - 1
    slots = Self.allocate(capacity)
  }

  deinit { slots.deallocate() }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<(key: UInt, value: UInt)> {
    let slots = UnsafeMutablePointer<(key: UInt, value: UInt)>.allocate(capacity: capacity)
    slots.initialize(repeating: (0, 0), count: capacity)
    return slots
  }

  @inline(__always)
  private func home(of key: UInt) -> Int { Int((key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask }

  /// The slot of the key, or the free slot where the key would be.
  @inline(__always)
  private func slot(of key: UInt) -> Int {
    var slot = home(of: key)
    while slots[slot].key != key, slots[slot].key != 0 { slot = (slot + 1) & mask }
    return slot
  }

  /// O(1) on average. Setting nil removes the key.
  package subscript(key: UInt) -> UInt? {
    get {
      let entry = slots[slot(of: key)]
      return entry.key == 0 ? nil : entry.value
    }
    set {
      let slot = slot(of: key)
      if let newValue {
        if slots[slot].key == 0 {
          count += 1
          if 2 * count > mask { return grow(adding: key, newValue) }
        }
        slots[slot] = (key, newValue)
      } else if slots[slot].key != 0 {
        count -= 1
        empty(slot)
      }
    }
  }

  private mutating func grow(adding key: UInt, _ value: UInt) {
    let old = slots
    let oldMask = mask
    mask = 2 * mask + 1
    slots = Self.allocate(mask + 1)
    for slot in 0...oldMask where old[slot].key != 0 { slots[self.slot(of: old[slot].key)] = old[slot] }
    old.deallocate()
    slots[slot(of: key)] = (key, value)
  }

  /// Empties a slot. A search would no longer reach some of the keys behind the slot: those keys are moved forward.
  private mutating func empty(_ removed: Int) {
    var gap = removed
    var slot = removed
    while true {
      slot = (slot + 1) & mask
      if slots[slot].key == 0 { break }
      // Compares how far the key is from its home with how far the gap is from the key.
      if (slot - home(of: slots[slot].key)) & mask >= (slot - gap) & mask {
        slots[gap] = slots[slot]
        gap = slot
      }
    }
    slots[gap] = (0, 0)
  }
}
