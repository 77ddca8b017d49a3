/// The levels of urgency of jobs: 0 (least urgent) to `count - 1`.
@usableFromInline package enum Levels {
  @inlinable package static var count: Int { 5 }
  /// The level of a job without a wish.
  @inlinable package static var middle: Int { count / 2 }

  /// Gives the number of the highest bit that is set; -1 for none.
  @inlinable @inline(__always)
  package static func highest(_ bits: UInt32) -> Int { 31 - bits.leadingZeroBitCount }
}
