/// Made-up pictures for tests and demonstrations. No file is needed, and no right of anybody is touched.
public enum TestPicture {
  /// Paints a landscape: a sky with a sun and clouds, and hills.
  ///
  /// The seed chooses the colours, the light and the shapes. The same seed and size give the same picture on each
  /// machine. The picture is opaque.
  ///
  /// *Cost*: O(pixels), some nanoseconds a pixel, on the calling thread. Traps when a side is below 1.
  ///
  /// - Parameters:
  ///   - seed: any number.
  ///   - width: in pixels.
  ///   - height: in pixels.
  public static func make(seed: UInt64, width: Int, height: Int) -> Picture {
    precondition(
      width >= 1 && height >= 1, "a picture of \(width) x \(height) pixels: each side must be at least 1 pixel")
    return Landscape(seed: seed, width: width, height: height).painted()
  }
}

/// Numbers that look random, by the rule of SplitMix64.
private struct Numbers {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func within(_ range: ClosedRange<Float>) -> Float {
    range.lowerBound + (range.upperBound - range.lowerBound) * Float(next() >> 40) / Float(1 << 24)
  }
}

/// A colour by its hue from 0 to 1, how strong it is, and how bright. Channels are from 0 to 255.
private func colour(hue: Float, strength: Float, brightness: Float) -> SIMD4<Float> {
  func channel(_ offset: Float) -> Float {
    let turn = (hue + offset) - (hue + offset).rounded(.down)
    let wave = max(0, min(1, abs(turn * 6 - 3) - 1))
    return 255 * brightness * (1 - strength * (1 - wave))
  }
  return SIMD4(channel(0), channel(2 / 3), channel(1 / 3), 255)
}

@inline(__always)
private func mixed(_ one: SIMD4<Float>, _ other: SIMD4<Float>, _ part: Float) -> SIMD4<Float> {
  one + (other - one) * part
}

/// A soft spot of light or cloud.
private struct Spot {
  var x, y, radiusX, radiusY: Float
  var colour: SIMD4<Float>
  var strength: Float
  /// The sun has an edge; others fade from their middle on.
  var isDisc = false
}

/// A range of hills.
private struct Hills {
  /// The height of the edge in each column, in pixels from the top.
  var edge: [Float]
  var highest: Float
  var lowest: Float
  /// At the edge, and further down.
  var top: SIMD4<Float>
  var bottom: SIMD4<Float>
}

private struct Landscape {
  let width: Int
  let height: Int
  private var spots: [Spot] = []
  private var hills: [Hills] = []
  private let zenith: SIMD4<Float>
  private let horizon: SIMD4<Float>

  init(seed: UInt64, width: Int, height: Int) {
    self.width = width
    self.height = height
    var numbers = Numbers(state: seed)
    let across = Float(width)
    let down = Float(height)
    let unit = min(across, down)
    // The light at the horizon is far from the colour of the sky, the land between both.
    let skyHue = numbers.within(0...1)
    let lightHue = skyHue + numbers.within(0.3...0.55)
    let landHue = skyHue + numbers.within(-0.25...0.25)
    zenith = colour(hue: skyHue, strength: numbers.within(0.55...0.85), brightness: numbers.within(0.45...0.8))
    horizon = colour(hue: lightHue, strength: numbers.within(0.25...0.5), brightness: 0.98)
    let sun = colour(hue: lightHue, strength: 0.15, brightness: 1)
    let sunX = across * numbers.within(0.15...0.85)
    let sunY = down * numbers.within(0.16...0.42)
    let sunRadius = unit * numbers.within(0.05...0.09)
    for (size, strength) in [(Float(9), Float(0.35)), (4, 0.4)] {
      spots.append(
        Spot(
          x: sunX, y: sunY, radiusX: sunRadius * size, radiusY: sunRadius * size, colour: sun, strength: strength))
    }
    spots.append(
      Spot(x: sunX, y: sunY, radiusX: sunRadius, radiusY: sunRadius, colour: sun, strength: 1, isDisc: true))
    for _ in 0..<4 {
      let x = across * numbers.within(0...1)
      let y = down * numbers.within(0.08...0.45)
      let radius = unit * numbers.within(0.1...0.2)
      for _ in 0..<3 {
        spots.append(
          Spot(
            x: x + radius * numbers.within(-1.2...1.2), y: y + radius * numbers.within(-0.15...0.15),
            radiusX: radius * numbers.within(0.9...1.6), radiusY: radius * numbers.within(0.2...0.4),
            colour: mixed(horizon, SIMD4(repeating: 255), 0.6), strength: numbers.within(0.3...0.6)))
      }
    }
    let near = colour(hue: landHue, strength: 0.7, brightness: numbers.within(0.2...0.35))
    let count = 5
    for index in 0..<count {
      let depth = Float(index + 1) / Float(count)
      let base = down * (0.45 + 0.42 * depth * depth + 0.06 * depth)
      let edge = ridge(base: base, swing: down * (0.16 - 0.06 * depth), waves: 2.5 + 1.5 * depth, of: &numbers)
      // Far hills take the colour of the light.
      let top = mixed(mixed(horizon, zenith, 0.35), near, 0.2 + 0.8 * depth)
      hills.append(
        Hills(
          edge: edge, highest: edge.min() ?? 0, lowest: edge.max() ?? 0, top: top,
          bottom: mixed(top, mixed(horizon, near, 0.3), 0.45 * (1 - depth) + 0.08)))
    }
  }

  /// A smooth line of waves of four sizes.
  private func ridge(base: Float, swing: Float, waves: Float, of numbers: inout Numbers) -> [Float] {
    var edge = [Float](repeating: base, count: width)
    var waves = waves
    var swing = swing
    for _ in 0..<4 {
      let heights = (0...Int(waves) + 3).map { _ in numbers.within(-1...1) }
      let offset = numbers.within(0...1)
      for column in 0..<width {
        let place = Float(column) / Float(max(1, width - 1)) * waves + offset
        let left = Int(place)
        let part = place - Float(left)
        let smooth = part * part * part * (part * (part * 6 - 15) + 10)
        edge[column] += swing * (heights[left] + (heights[left + 1] - heights[left]) * smooth)
      }
      waves *= 2.3
      swing *= 0.36
    }
    return edge
  }

  func painted() -> Picture {
    var line = [SIMD4<Float>](repeating: .zero, count: width)
    let pixels = [UInt8](unsafeUninitializedCapacity: width * height * 4) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      line.withUnsafeMutableBufferPointer { line in
        for row in 0..<height {
          paint(row, on: line)
          store(line, at: row, in: bytes)
        }
      }
      initialized = width * height * 4
    }
    return Picture(width: width, height: height, pixels: pixels)
  }

  /// Paints from back to front, and leaves out what hills hide.
  private func paint(_ row: Int, on line: UnsafeMutableBufferPointer<SIMD4<Float>>) {
    let y = Float(row) + 0.5
    let ground = hills.lastIndex { $0.lowest <= y - 1 }
    if ground == nil {
      let part = min(1, y / (Float(height) * 0.62))
      line.update(repeating: mixed(zenith, horizon, part * (2 - part)))
      for spot in spots where abs(spot.y - y) < spot.radiusY + 1 { paint(spot, at: y, on: line) }
    }
    for range in hills[(ground ?? 0)...] where range.highest < y + 1 {
      let reach = Float(height) * 0.4
      range.edge.withUnsafeBufferPointer { edge in
        for column in line.indices {
          let depth = y - edge[column]
          let covered = max(0, min(1, depth + 0.5))
          let paint = mixed(range.top, range.bottom, max(0, min(1, depth / reach)))
          line[column] = mixed(line[column], paint, covered)
        }
      }
    }
  }

  private func paint(_ spot: Spot, at y: Float, on line: UnsafeMutableBufferPointer<SIMD4<Float>>) {
    let first = max(0, Int(spot.x - spot.radiusX - 1))
    let end = min(line.count, Int(max(0, spot.x + spot.radiusX + 2)))
    guard first < end else { return }
    let fromY = (y - spot.y) / spot.radiusY
    for column in first..<end {
      let fromX = (Float(column) + 0.5 - spot.x) / spot.radiusX
      let square = fromX * fromX + fromY * fromY
      let part =
        spot.isDisc
        ? max(0, min(1, (1 - square.squareRoot()) * spot.radiusX + 0.5))
        : max(0, 1 - square) * max(0, 1 - square)
      line[column] = mixed(line[column], spot.colour, part * spot.strength)
    }
  }

  /// Rounds up at some places and down at others, so that smooth colours have no steps.
  private func store(
    _ line: UnsafeMutableBufferPointer<SIMD4<Float>>, at row: Int, in bytes: UnsafeMutableRawBufferPointer
  ) {
    let pattern: [Float] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]
    let shares = pattern[(row & 3) * 4..<(row & 3) * 4 + 4].map { ($0 + 0.5) / 16 }
    shares.withUnsafeBufferPointer { shares in
      for column in line.indices {
        let value = line[column] + shares[column & 3]
        let start = (row &* width &+ column) &* 4
        bytes[start] = UInt8(truncatingIfNeeded: Int32(min(255, value.x)))
        bytes[start &+ 1] = UInt8(truncatingIfNeeded: Int32(min(255, value.y)))
        bytes[start &+ 2] = UInt8(truncatingIfNeeded: Int32(min(255, value.z)))
        bytes[start &+ 3] = 255
      }
    }
  }
}
