import Operations

extension Picture {
  /// Makes each pixel anew from the one at its place, rows at the same time.
  @inline(__always)
  private func mapped(
    _ transform: @Sendable (SIMD4<UInt8>) -> SIMD4<UInt8>
  ) -> Picture {
    let width = width
    let pixels = pixels
    var result = [UInt8](repeating: 0, count: byteCount)
    result.concurrentForEachChunk(ofCount: width * 4) { row, line in
      line.withUnsafeMutableBytes { line in
        pixels.withUnsafeBytes { pixels in
          for column in 0..<width { line.store(transform(pixels.pixel(row &* width &+ column)), at: column) }
        }
      }
    }
    return Picture(width: width, height: height, pixels: result)
  }

  /// Gives the picture the brown of old photographs. Alpha is kept.
  ///
  /// *Cost*: O(pixels), rows at the same time on several threads. The function blocks the calling thread, which takes
  /// part.
  public func sepia() -> Picture {
    mapped { pixel in
      // In parts of 1,024: the usual 0.393, 0.769, 0.189 and so on.
      let red = UInt32(pixel.x)
      let green = UInt32(pixel.y)
      let blue = UInt32(pixel.z)
      let brown = SIMD4<UInt32>(
        red &* 402 &+ green &* 787 &+ blue &* 194, red &* 357 &+ green &* 702 &+ blue &* 172,
        red &* 279 &+ green &* 547 &+ blue &* 134, 0)
      var result = SIMD4<UInt8>(truncatingIfNeeded: pointwiseMin((brown &+ 512) &>> 10, SIMD4(repeating: 255)))
      result.w = pixel.w
      return result
    }
  }

  /// Takes the colours away. Green counts most and blue least, as for the eye. Alpha is kept.
  ///
  /// *Cost*: O(pixels), rows at the same time on several threads. The function blocks the calling thread, which takes
  /// part.
  public func grey() -> Picture {
    mapped { pixel in
      // In parts of 65,536, with a sum of exactly that: 0.2126, 0.7152, 0.0722.
      let sum = UInt32(pixel.x) &* 13_933 &+ UInt32(pixel.y) &* 46_871 &+ UInt32(pixel.z) &* 4_732
      let grey = UInt8(truncatingIfNeeded: (sum &+ 32_768) &>> 16)
      return SIMD4(grey, grey, grey, pixel.w)
    }
  }

  /// Makes the corners round and what is outside of them transparent. The edge is smooth.
  ///
  /// The largest radius that has a meaning is half of the shorter side; a larger one counts as that.
  ///
  /// *Cost*: a copy of the picture, and O(`radius` * `radius`) pixels. It runs on the calling thread.
  ///
  /// Traps when `radius` is negative.
  ///
  /// - Parameter radius: of the corners, in pixels. 0 changes nothing.
  public func roundedCorners(radius: Int) -> Picture {
    precondition(radius >= 0, "corners with radius \(radius): the radius must not be negative")
    let radius = min(Double(radius), Double(min(width, height)) / 2)
    let reach = Int(radius.rounded(.up))
    var result = pixels
    for row in 0..<reach {
      for column in 0..<reach {
        let x = max(0, radius - Double(column) - 0.5)
        let y = max(0, radius - Double(row) - 0.5)
        // How much of the pixel is inside, by the distance of its middle from the arc.
        let inside = max(0, min(1, radius - (x * x + y * y).squareRoot() + 0.5))
        if inside == 1 { continue }
        let top = row * width
        let bottom = (height - 1 - row) * width
        // A pixel in the middle of an odd side belongs to two corners, and gets the same from both.
        for place in [top + column, top + width - 1 - column, bottom + column, bottom + width - 1 - column] {
          result[place * 4 + 3] = UInt8((Double(pixels[place * 4 + 3]) * inside).rounded())
        }
      }
    }
    return Picture(width: width, height: height, pixels: result)
  }
}
