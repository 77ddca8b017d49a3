/// SHA-1 (FIPS 180-4). The Unbalanced Tree Search benchmark defines its random numbers by SHA-1. This code is not for
/// anything that must be secure.
enum SHA1 {
  /// The five words of a digest.
  struct Digest: Hashable, Sendable, BitwiseCopyable {
    var a: UInt32 = 0x6745_2301
    var b: UInt32 = 0xefcd_ab89
    var c: UInt32 = 0x98ba_dcfe
    var d: UInt32 = 0x1032_5476
    var e: UInt32 = 0xc3d2_e1f0
  }

  static func digest(_ message: [UInt8]) -> Digest {
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    let bits = UInt64(message.count) * 8
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
    var digest = Digest()
    for block in stride(from: 0, to: bytes.count, by: 64) {
      compress(&digest) { words in
        for word in 0..<16 {
          words[word] = (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[block + 4 * word + $1]) }
        }
      }
    }
    return digest
  }

  /// The digest of a message that fits into one block: at most 13 words. `fill` gives the words, in a buffer of zeros.
  @inline(__always)
  static func digest(words count: Int, _ fill: (UnsafeMutableBufferPointer<UInt32>) -> Void) -> Digest {
    var digest = Digest()
    compress(&digest) { words in
      words.initialize(repeating: 0)
      fill(words)
      words[count] = 0x8000_0000
      words[15] = UInt32(count * 32)
    }
    return digest
  }

  /// Adds one block of 16 words to the digest.
  @inline(__always)
  private static func compress(_ digest: inout Digest, _ fill: (UnsafeMutableBufferPointer<UInt32>) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 16) { words in
      fill(words)
      var (a, b, c, d, e) = (digest.a, digest.b, digest.c, digest.d, digest.e)
      for round in 0..<80 {
        if round >= 16 {
          let next =
            words[(round &- 3) & 15] ^ words[(round &- 8) & 15] ^ words[(round &- 14) & 15] ^ words[round & 15]
          words[round & 15] = rotate(next, 1)
        }
        let mixed: UInt32
        switch round {
        case ..<20: mixed = (b & c | ~b & d) &+ 0x5a82_7999
        case ..<40: mixed = (b ^ c ^ d) &+ 0x6ed9_eba1
        case ..<60: mixed = (b & c | b & d | c & d) &+ 0x8f1b_bcdc
        default: mixed = (b ^ c ^ d) &+ 0xca62_c1d6
        }
        let sum = rotate(a, 5) &+ mixed &+ e &+ words[round & 15]
        (a, b, c, d, e) = (sum, a, rotate(b, 30), c, d)
      }
      digest.a &+= a
      digest.b &+= b
      digest.c &+= c
      digest.d &+= d
      digest.e &+= e
    }
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word &<< bits | word &>> (32 &- bits) }
}
