/// A table of pictures, to see many of them at a glance.
public enum ContactSheet {
  private static let ground = SIMD4<UInt8>(226, 226, 228, 255)
  private static let ink = SIMD4<UInt8>(176, 72, 72, 255)

  /// How large the sheet of so many pictures is, in pixels. See `make(_:cell:columns:)`.
  public static func size(of count: Int, cell: Int, columns: Int) -> (width: Int, height: Int) {
    let (gap, rows) = (gap(cell), max(1, (count + columns - 1) / columns))
    return (columns * (cell + gap) + gap, rows * (cell + gap) + gap)
  }

  private static func gap(_ cell: Int) -> Int { max(1, cell / 16) }

  /// Puts pictures into cells, from left to right and from the top down.
  ///
  /// The ground is light grey. Each picture is in the middle of its cell, and the ground shows through where it is
  /// transparent. One that is larger than the cell is made smaller. A crossed box stands for a picture that is missing.
  ///
  /// *Cost*: O(pixels of the sheet), and what making pictures smaller costs. Traps when `cell` or `columns` is below 1.
  ///
  /// - Parameters:
  ///   - pictures: nil for one that could not be made.
  ///   - cell: the side of a cell, in pixels. Between cells there is a gap of a sixteenth of that.
  ///   - columns: how many cells are side by side.
  public static func make(_ pictures: [Picture?], cell: Int, columns: Int) -> Picture {
    precondition(cell >= 1, "a contact sheet with cells of \(cell) pixels: there must be at least 1")
    precondition(columns >= 1, "a contact sheet with \(columns) columns: there must be at least 1")
    let gap = gap(cell)
    let (width, height) = size(of: pictures.count, cell: cell, columns: columns)
    var sheet = Canvas(width: width, height: height, filledWith: ground)
    for (index, picture) in pictures.enumerated() {
      let left = gap + index % columns * (cell + gap)
      let top = gap + index / columns * (cell + gap)
      guard let picture else {
        sheet.cross(left: left, top: top, side: cell, ink: ink)
        continue
      }
      let fitting = picture.downscaled(toFit: cell)
      sheet.compose(
        fitting, left: left + (cell - fitting.width) / 2, top: top + (cell - fitting.height) / 2)
    }
    return Picture(width: sheet.width, height: sheet.height, pixels: sheet.pixels)
  }
}

/// Pixels that are drawn on.
private struct Canvas {
  let width: Int
  let height: Int
  var pixels: [UInt8]

  init(width: Int, height: Int, filledWith ground: SIMD4<UInt8>) {
    self.width = width
    self.height = height
    pixels = [UInt8](unsafeUninitializedCapacity: width * height * 4) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for index in 0..<width * height { bytes.store(ground, at: index) }
      initialized = width * height * 4
    }
  }

  /// Lays a picture over the ground, which is opaque.
  mutating func compose(_ picture: Picture, left: Int, top: Int) {
    let width = width
    pixels.withUnsafeMutableBytes { ground in
      picture.pixels.withUnsafeBytes { pixels in
        for row in 0..<picture.height {
          for column in 0..<picture.width {
            let place = (top + row) * width + left + column
            let pixel = composed(
              pixels.pixel(row * picture.width + column), over: UnsafeRawBufferPointer(ground).pixel(place))
            ground.store(pixel, at: place)
          }
        }
      }
    }
  }

  /// Draws a box with two diagonals.
  mutating func cross(left: Int, top: Int, side: Int, ink: SIMD4<UInt8>) {
    let width = width
    // The box stands a little inside the cell, with lines of about a hundredth.
    let inset = side / 8
    let length = side - 2 * inset
    let thickness = max(1, side / 96)
    pixels.withUnsafeMutableBytes { ground in
      for row in 0..<length {
        for column in 0..<length {
          let toEdge = min(row, column, length - 1 - row, length - 1 - column)
          let toDiagonal = min(abs(row - column), abs(row + column - length + 1))
          // Diagonals are covered in part at their sides, which makes them smooth.
          let covered = toEdge < thickness ? 2 : max(0, min(2, thickness + 1 - toDiagonal))
          if covered == 0 { continue }
          let place = (top + inset + row) * width + left + inset + column
          var pen = ink
          pen.w = covered == 2 ? 255 : 128
          ground.store(composed(pen, over: UnsafeRawBufferPointer(ground).pixel(place)), at: place)
        }
      }
    }
  }
}
