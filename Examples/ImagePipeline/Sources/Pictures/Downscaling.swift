import Operations

extension Picture {
  /// Makes the picture smaller, so that its longer side has `size` pixels. The shape is kept.
  ///
  /// A picture that fits already is returned as it is. The filter is Lanczos with three lobes: sharp, and without the
  /// patterns that leaving out pixels makes. Transparent pixels do not colour their neighbours.
  ///
  /// All sums are sums of whole numbers: the result is the same on each machine, and on each backend.
  ///
  /// *Cost*: O(pixels), rows at the same time on several threads. The function blocks the calling thread, which takes
  /// part.
  ///
  /// Traps when `size` is below 1.
  ///
  /// - Parameter size: the most pixels of a side.
  public func downscaled(toFit size: Int) -> Picture {
    Self.checkSize(size)
    let target = Self.fitted(width: width, height: height, to: size)
    if target == (width, height) { return self }
    let across = Weights(from: width, to: target.width)
    let down = Weights(from: height, to: target.height)
    let narrow = narrowed(by: across, to: target.width)

    var result = [UInt8](repeating: 0, count: target.width * target.height * 4)
    result.concurrentForEachChunk(ofCount: target.width * 4) { row, line in
      let columns = target.width
      withUnsafeTemporaryAllocation(of: SIMD4<Int32>.self, capacity: columns) { sums in
        sums.initialize(repeating: .zero)
        let first = down.firsts[row]
        narrow.withUnsafeBufferPointer { narrow in
          for tap in 0..<down.counts[row] {
            let weight = SIMD4<Int16>(repeating: down.values[down.starts[row] + tap])
            let start = (first + tap) * columns
            for column in 0..<columns { sums[column] &+= product(narrow[start &+ column], weight) }
          }
        }
        line.withUnsafeMutableBytes { line in
          for column in 0..<columns { line.store(straight(sums[column]), at: column) }
        }
      }
    }
    return Picture(width: target.width, height: target.height, pixels: result)
  }

  /// Shrinks each row. The result has colours times alpha, in quarters: 16,256 is full.
  private func narrowed(by weights: Weights, to columns: Int) -> [SIMD4<Int16>] {
    let width = width
    let pixels = pixels
    var result = [SIMD4<Int16>](repeating: .zero, count: columns * height)
    result.concurrentForEachChunk(ofCount: columns) { row, line in
      withUnsafeTemporaryAllocation(of: SIMD4<Int16>.self, capacity: width) { source in
        pixels.withUnsafeBytes { pixels in
          for column in 0..<width {
            let quarters = (multiplied(pixels.pixel(row &* width &+ column)) &+ 2) &>> 2
            source.initializeElement(at: column, to: SIMD4<Int16>(truncatingIfNeeded: quarters))
          }
        }
        weights.values.withUnsafeBufferPointer { values in
          for column in 0..<columns {
            let first = weights.firsts[column]
            let start = weights.starts[column]
            var sum = SIMD4<Int32>(repeating: 1 << 13)
            for tap in 0..<weights.counts[column] {
              sum &+= product(source[first &+ tap], SIMD4(repeating: values[start &+ tap]))
            }
            line[column] = SIMD4<Int16>(truncatingIfNeeded: sum &>> 14)
          }
        }
      }
    }
    return result
  }
}

/// A product that does not overflow.
@inline(__always)
private func product(_ left: SIMD4<Int16>, _ right: SIMD4<Int16>) -> SIMD4<Int32> {
  SIMD4<Int32>(truncatingIfNeeded: left) &* SIMD4<Int32>(truncatingIfNeeded: right)
}

/// Colours times alpha, and alpha times 255.
@inline(__always)
func multiplied(_ pixel: SIMD4<UInt8>) -> SIMD4<UInt32> {
  var alpha = SIMD4<UInt32>(repeating: UInt32(pixel.w))
  alpha.w = 255
  return SIMD4<UInt32>(truncatingIfNeeded: pixel) &* alpha
}

/// A pixel of sums of colours times alpha. The filter swings a little over and under: what is out of range becomes its
/// end.
@inline(__always)
private func straight(_ sums: SIMD4<Int32>) -> SIMD4<UInt8> {
  // 16,384 is the sum of the weights: a full alpha is 255 * 255 / 4 * 16,384.
  let alpha = min(255, (Int(sums.w) * 4 + 255 << 13) / (255 << 14))
  guard alpha > 0 else { return .zero }
  // Lengthens each sum by 7 bits less, so that 255 times it has room.
  let whole = sums.w &>> 7
  let half = SIMD4<Int32>(repeating: whole / 2)
  let colours = (sums &>> 7) &* 255 &+ half
  return SIMD4(
    UInt8(max(0, min(255, colours.x / whole))), UInt8(max(0, min(255, colours.y / whole))),
    UInt8(max(0, min(255, colours.z / whole))), UInt8(alpha))
}

/// How much each pixel of a line counts for each pixel of a shorter line.
private struct Weights: Sendable {
  /// For each pixel of the result: the first pixel that counts, how many do, and where their weights begin.
  var firsts: [Int] = []
  var counts: [Int] = []
  var starts: [Int] = []
  /// In parts of 16,384. Those of one pixel add up to that exactly, so that a plain picture keeps its colour.
  var values: [Int16] = []

  init(from source: Int, to target: Int) {
    let scale = Double(source) / Double(target)
    let reach = 3 * scale
    for index in 0..<target {
      let centre = (Double(index) + 0.5) * scale
      let first = max(0, Int((centre - reach).rounded(.down)))
      let end = min(source, Int((centre + reach).rounded(.up)))
      let wanted = (first..<end).map { lanczos((Double($0) + 0.5 - centre) / scale) }
      let sum = wanted.reduce(0, +)
      firsts.append(first)
      counts.append(end - first)
      starts.append(values.count)
      // The running total is rounded, not each weight: no weight is lost, however small each of them is.
      var total = 0.0
      var given = 0
      for weight in wanted {
        total += weight
        let rounded = Int((total / sum * 16_384).rounded())
        values.append(Int16(rounded - given))
        given = rounded
      }
    }
  }
}

/// The filter of Lanczos with three lobes.
private func lanczos(_ x: Double) -> Double {
  if x == 0 { return 1 }
  if abs(x) >= 3 { return 0 }
  return 3 * sineOfPi(x) * sineOfPi(x / 3) / (Double.pi * Double.pi * x * x)
}

/// The sine of pi times a number, to 11 digits. It is made of additions and products, which each machine rounds in the
/// same way; C libraries' sines differ in their last bits.
private func sineOfPi(_ x: Double) -> Double {
  let whole = x.rounded()
  let angle = (x - whole) * Double.pi
  let square = angle * angle
  var term = angle
  var sum = angle
  for step in 1...8 {
    term *= -square / Double(2 * step * (2 * step + 1))
    sum += term
  }
  return whole.truncatingRemainder(dividingBy: 2) == 0 ? sum : -sum
}
