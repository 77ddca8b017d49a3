/// A set of small numbers that finds the next member behind a number without a visit to those between: two levels of
/// bits. A change is O(1). `next` is O(1) for up to 4,096 numbers, and then grows with the number of numbers / 4,096.
package struct NumberSet {
  private var words: [UInt64] = []
  /// One bit for each word that is not 0.
  private var summary: [UInt64] = []

  package init() {}

  package mutating func set(_ number: Int, to isMember: Bool) {
    let index = number >> 6
    while index >= words.count {
      words.append(0)
      if words.count > summary.count << 6 { summary.append(0) }
    }
    let bit = UInt64(1) << UInt64(number & 63)
    if isMember { words[index] |= bit } else { words[index] &= ~bit }
    let summaryBit = UInt64(1) << UInt64(index & 63)
    if words[index] != 0 { summary[index >> 6] |= summaryBit } else { summary[index >> 6] &= ~summaryBit }
  }

  /// The first member from `start` on; behind the last number the search goes on at 0. Nil when there is no member.
  func next(cyclicallyFrom start: Int) -> Int? { next(from: start) ?? next(from: 0) }

  /// The first member from `start` on, in ascending order.
  package func next(from start: Int) -> Int? {
    var index = start >> 6
    guard index < words.count else { return nil }
    let rest = words[index] >> UInt64(start & 63)
    if rest != 0 { return start + rest.trailingZeroBitCount }
    index += 1
    var block = index >> 6
    guard block < summary.count else { return nil }
    var bits = summary[block] & ~0 << UInt64(index & 63)
    while bits == 0 {
      block += 1
      guard block < summary.count else { return nil }
      bits = summary[block]
    }
    index = block << 6 + bits.trailingZeroBitCount
    return index << 6 + words[index].trailingZeroBitCount
  }
}
