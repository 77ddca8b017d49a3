/// A picture in memory: red, green, blue and alpha, 8 bits each, row by row from the top.
///
/// Alpha is straight: a colour does not depend on the alpha beside it. 0 is transparent, 255 is opaque. Colours are
/// sRGB.
///
/// A picture is a value. Nothing changes it after it is made, so any number of threads may read it.
public struct Picture: Sendable, Equatable {
  /// In pixels. At least 1.
  public let width: Int
  /// In pixels. At least 1.
  public let height: Int
  /// `width * height * 4` bytes: red, green, blue, alpha of the first pixel, then of the one to its right.
  public let pixels: [UInt8]

  /// Makes a picture of pixels.
  ///
  /// Traps when a side is below 1, and when `pixels` does not have `width * height * 4` bytes.
  public init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(
      width >= 1 && height >= 1, "a picture of \(width) x \(height) pixels: each side must be at least 1 pixel")
    precondition(
      pixels.count == width * height * 4,
      "a picture of \(width) x \(height) pixels takes \(width * height * 4) bytes: there are \(pixels.count)")
    (self.width, self.height, self.pixels) = (width, height, pixels)
  }

  /// The bytes that the pixels take: `width * height * 4`.
  public var byteCount: Int { pixels.count }

  /// A number that tells pictures apart: FNV-1a over the size and the pixels, a pixel at a time.
  ///
  /// It is the same on each machine. It protects against mistakes, not against people. O(pixels).
  public var checksum: UInt64 {
    let prime: UInt64 = 0x100_0000_01b3
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    hash = (hash ^ UInt64(width)) &* prime
    hash = (hash ^ UInt64(height)) &* prime
    pixels.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: 4) {
        let pixel = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        hash = (hash ^ UInt64(pixel)) &* prime
      }
    }
    return hash
  }
}

extension Picture {
  /// The size that a picture has after `downscaled(toFit:)`: the longer side becomes `size`, and the shape is kept.
  ///
  /// A picture that fits already keeps its size. No side becomes less than 1.
  static func fitted(width: Int, height: Int, to size: Int) -> (width: Int, height: Int) {
    let longer = max(width, height)
    guard longer > size else { return (width, height) }
    func scaled(_ side: Int) -> Int { max(1, (side * size * 2 + longer) / (longer * 2)) }
    return (scaled(width), scaled(height))
  }
}

extension UnsafeRawBufferPointer {
  /// The pixel with this number.
  @inline(__always)
  func pixel(_ index: Int) -> SIMD4<UInt8> { loadUnaligned(fromByteOffset: index &* 4, as: SIMD4<UInt8>.self) }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores the pixel with this number.
  @inline(__always)
  func store(_ pixel: SIMD4<UInt8>, at index: Int) {
    storeBytes(of: pixel, toByteOffset: index &* 4, as: SIMD4<UInt8>.self)
  }
}
