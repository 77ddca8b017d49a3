/// SplitMix64 (Steele, Lea, Flood 2014): every random choice of a run follows from its seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// A generator for one purpose, independent of the order in which others are drawn.
  package init(seed: UInt64, purpose: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in purpose.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    state = Self.mix(seed ^ hash)
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mix(state)
  }

  /// The finaliser: a bijection that spreads every input bit over the output.
  package static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number in [0, 1) that depends only on the words given.
  package static func uniform(_ words: UInt64...) -> Double {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
    for word in words { hash = mix(hash ^ mix(word &+ 0x9e37_79b9_7f4a_7c15)) &+ 0x9e37_79b9_7f4a_7c15 }
    return Double(mix(hash) >> 11) * 0x1p-53
  }
}
