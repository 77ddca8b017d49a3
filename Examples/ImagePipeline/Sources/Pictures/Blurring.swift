import Operations

extension Picture {
  /// The largest radius of a blur.
  static let maximumBlur = 1000

  /// Makes the picture soft.
  ///
  /// Three means over squares of `2 * radius + 1` pixels follow each other. That is close to a Gauss blur with a
  /// deviation of `radius + 0.5` pixels. Beyond its edges the picture goes on as in a mirror, so that the mean
  /// brightness is kept. Transparent pixels do not colour their neighbours.
  ///
  /// *Cost*: O(pixels), whatever the radius is. Columns and then rows are worked on at the same time on several
  /// threads. The function blocks the calling thread, which takes part. The result is the same on each machine, and on
  /// each backend.
  ///
  /// Traps when `radius` is not from 0 to 1,000.
  ///
  /// - Parameter radius: in pixels. 0 changes nothing.
  public func blurred(radius: Int) -> Picture {
    precondition(
      (0...Self.maximumBlur).contains(radius),
      "a blur with radius \(radius): the radius must be from 0 to \(Self.maximumBlur)")
    if radius == 0 { return self }
    let pixels = pixels
    let width = width
    var colours = [SIMD4<UInt16>](repeating: .zero, count: width * height)
    colours.concurrentForEachChunk(ofCount: width) { row, line in
      pixels.withUnsafeBytes { pixels in
        for column in line.indices {
          line[column] = SIMD4<UInt16>(truncatingIfNeeded: multiplied(pixels.pixel(row &* width &+ column)))
        }
      }
    }
    let turned = blurredColumns(of: colours, width: width, height: height, radius: radius)
    let soft = blurredColumns(of: turned, width: height, height: width, radius: radius)
    var result = [UInt8](repeating: 0, count: byteCount)
    result.concurrentForEachChunk(ofCount: width * 4) { row, line in
      line.withUnsafeMutableBytes { line in
        soft.withUnsafeBufferPointer { soft in
          for column in 0..<width { line.store(straight(soft[row &* width &+ column]), at: column) }
        }
      }
    }
    return Picture(width: width, height: height, pixels: result)
  }
}

/// A pixel of colours times alpha.
@inline(__always)
private func straight(_ product: SIMD4<UInt16>) -> SIMD4<UInt8> {
  let wide = SIMD4<UInt32>(truncatingIfNeeded: product)
  if wide.w == 255 * 255 { return SIMD4<UInt8>(truncatingIfNeeded: dividedBy255(wide)) }
  let alpha = dividedBy255(wide).w
  guard alpha > 0 else { return .zero }
  func colour(_ value: UInt32) -> UInt8 { UInt8(min(255, (value &* 255 &+ wide.w / 2) / wide.w)) }
  return SIMD4(colour(wide.x), colour(wide.y), colour(wide.z), UInt8(alpha))
}

/// Blurs each column. The result is turned: its rows are the columns, so that two calls blur both ways and turn back.
private func blurredColumns(
  of pixels: [SIMD4<UInt16>], width: Int, height: Int, radius: Int
) -> [SIMD4<UInt16>] {
  // What stands at each place from `radius` before the line to `radius` behind it.
  let mirror = (-radius...height + radius).map { place in
    let step = ((place % (2 * height)) + 2 * height) % (2 * height)
    return step < height ? step : 2 * height - 1 - step
  }
  let side = Double(2 * radius + 1)
  let share = 1 / (side * side * side)
  var result = [SIMD4<UInt16>](repeating: .zero, count: width * height)
  // Eight pixels are a line of a processor's cache: a strip of eight columns reads each line once.
  result.concurrentForEachChunk(ofCount: height * 8) { strip, columns in
    let count = columns.count / height
    let left = strip * 8
    columns.withUnsafeMutableBufferPointer { columns in
      pixels.withUnsafeBufferPointer { pixels in
        for row in 0..<height {
          for column in 0..<count { columns[column &* height &+ row] = pixels[row &* width &+ left &+ column] }
        }
      }
      withUnsafeTemporaryAllocation(of: SIMD4<Double>.self, capacity: height * 2) { lines in
        lines.initialize(repeating: .zero)
        let one = UnsafeMutableBufferPointer(rebasing: lines[..<height])
        let other = UnsafeMutableBufferPointer(rebasing: lines[height...])
        for column in 0..<count {
          let start = column * height
          for row in 0..<height { one[row] = widened(columns[start &+ row]) }
          addNeighbours(one, to: other, radius: radius, mirror: mirror)
          addNeighbours(other, to: one, radius: radius, mirror: mirror)
          addNeighbours(one, to: other, radius: radius, mirror: mirror)
          for row in 0..<height { columns[start &+ row] = rounded(other[row] * share) }
        }
      }
    }
  }
  return result
}

/// For each place of a line the sum of the places from `radius` before it to `radius` behind it, by a running sum.
///
/// Sums are whole numbers below 2^53 after three calls with the largest radius, so that `Double` holds them exactly:
/// nothing drifts.
@inline(__always)
private func addNeighbours(
  _ line: UnsafeMutableBufferPointer<SIMD4<Double>>, to result: UnsafeMutableBufferPointer<SIMD4<Double>>, radius: Int,
  mirror: [Int]
) {
  mirror.withUnsafeBufferPointer { mirror in
    let side = 2 &* radius &+ 1
    var sum = SIMD4<Double>.zero
    for place in 0..<side { sum += line[mirror[place]] }
    for place in 0..<line.count {
      result[place] = sum
      if place &+ side < mirror.count { sum += line[mirror[place &+ side]] - line[mirror[place]] }
    }
  }
}

@inline(__always)
private func widened(_ pixel: SIMD4<UInt16>) -> SIMD4<Double> {
  SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w))
}

@inline(__always)
private func rounded(_ pixel: SIMD4<Double>) -> SIMD4<UInt16> {
  let half = pixel + 0.5
  return SIMD4(
    UInt16(truncatingIfNeeded: Int32(half.x)), UInt16(truncatingIfNeeded: Int32(half.y)),
    UInt16(truncatingIfNeeded: Int32(half.z)), UInt16(truncatingIfNeeded: Int32(half.w)))
}
