import CPictures

/// What a file may ask for, before memory is taken for it.
public struct DecodingLimits: Sendable, Hashable {
  /// The most pixels that a picture may have. A pixel takes 4 bytes, and about as much again while a file is read.
  ///
  /// A small file can hold a picture that fills all memory. The limit is compared with the size in the file's header.
  public var maximumPixels: Int

  /// Makes limits. Traps when `maximumPixels` is below 1.
  public init(maximumPixels: Int = 50_000_000) {
    precondition(maximumPixels >= 1, "maximumPixels is \(maximumPixels): it must be at least 1")
    self.maximumPixels = maximumPixels
  }

  /// Throws when a picture of this size is too large.
  func check(width: Int, height: Int) throws(PictureError) {
    let (pixels, overflows) = width.multipliedReportingOverflow(by: height)
    // No array holds more bytes than an `Int` counts.
    if overflows || pixels > min(maximumPixels, Int.max / 4) {
      throw .tooLarge(width: width, height: height, maximumPixels: maximumPixels)
    }
  }
}

extension Picture {
  /// Reads a JPEG or PNG file.
  ///
  /// The first bytes tell which of the two it is; a name or a content type is not needed. Grey pictures, palettes and
  /// 16 bits a colour are converted. JPEG files have no alpha: the picture is opaque.
  ///
  /// The picture is turned as the file says: by the orientation of its EXIF data, in a JPEG and in a PNG file. All
  /// sizes are those behind the turn.
  ///
  /// Colours are taken for sRGB. The scale of brightness that a PNG file names (`gAMA`) is applied. A colour profile
  /// (ICC) is not: the colours of a picture whose profile is far from sRGB are a little off.
  ///
  /// A file that has lost pixels is an error. A part of a picture is never returned. What makes no pixel may be wrong:
  /// a checksum of a comment, bytes too many, the end mark of a JPEG file whose pixels are all there. JPEG files have
  /// no checksum, though: a change that makes another valid file cannot be seen.
  ///
  /// With `fitting` a JPEG is read at a fraction of its size: the smallest from which `downscaled(toFit:)` still
  /// shrinks, to the same size as from the whole picture. That is several times as fast. A PNG is always read whole.
  ///
  /// *Cost*: O(pixels), on the calling thread. The function shares nothing, so that any number of threads may call it.
  ///
  /// Traps when `size` is below 1.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - limits: how large a picture may be. They hold for the size in the file, with `fitting` too.
  ///   - size: the longest side that is needed, in pixels. The picture may be larger.
  /// - Throws: ``PictureError``: the format is unknown or not supported, the file is damaged, or the picture is too
  ///   large.
  public static func decode(
    _ bytes: [UInt8], limits: DecodingLimits = DecodingLimits(), fitting size: Int? = nil
  ) throws(PictureError) -> Picture {
    if let size { checkSize(size) }
    let isPNG = bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
    guard isPNG || bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { throw .unknownFormat }
    return try bytes.withUnsafeBufferPointer { bytes throws(PictureError) in
      guard let file = cpictures_open(bytes.baseAddress, bytes.count, isPNG) else {
        throw .unsupported("there is no memory left")
      }
      defer { cpictures_close(file) }
      func damage() -> PictureError { .damaged(withUnsafeBytes(of: file.pointee.message, text)) }
      guard cpictures_read_head(file) else { throw damage() }
      var (width, height) = (Int(file.pointee.width), Int(file.pointee.height))
      try limits.check(width: width, height: height)
      // Which ink means what follows from a profile that is not read. A guess would give wrong colours without a word.
      if file.pointee.has_printing_colours {
        throw .unsupported("the JPEG file has printing colours (CMYK): RGB or grey was expected")
      }
      var eighths = 8
      if let size, !isPNG {
        let target = fitted(width: width, height: height, to: size)
        eighths = (1...8).first { isEnough(scaled(width, $0), scaled(height, $0), for: target, size) } ?? 8
        (width, height) = (scaled(width, eighths), scaled(height, eighths))
      }
      let byteCount = width * height * 4
      var isRead = false
      let pixels = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
        isRead = cpictures_read_pixels(file, UInt32(eighths), buffer.baseAddress)
        initialized = isRead ? byteCount : 0
      }
      guard isRead else { throw damage() }
      let exif = UnsafeRawBufferPointer(start: file.pointee.exif, count: file.pointee.exif_count)
      return Picture(width: width, height: height, pixels: pixels).turned(orientation(inEXIF: exif))
    }
  }

  static func checkSize(_ size: Int) {
    precondition(size >= 1, "a picture was to be \(size) pixels large: the size must be at least 1")
  }

  /// The words of a C library.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// As the library rounds.
  private static func scaled(_ side: Int, _ eighths: Int) -> Int { (side * eighths + 7) / 8 }

  /// Whether a picture of that size still shrinks to the same size as the whole picture.
  private static func isEnough(_ width: Int, _ height: Int, for target: (width: Int, height: Int), _ size: Int) -> Bool
  {
    width >= target.width && height >= target.height && fitted(width: width, height: height, to: size) == target
  }

  // MARK: Turning

  /// How EXIF data say that the picture is to be turned, from 1 to 8. 1, not at all, where they say nothing that can be
  /// understood.
  private static func orientation(inEXIF bytes: UnsafeRawBufferPointer) -> Int {
    let isLittle = bytes.first == UInt8(ascii: "I")
    func number(at place: Int, bytes count: Int) -> Int? {
      guard place <= bytes.count - count else { return nil }
      let digits = bytes[place..<place + count]
      return (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard number(at: 2, bytes: 2) == 42, let table = number(at: 4, bytes: 4), let count = number(at: table, bytes: 2)
    else { return 1 }
    // An entry has a tag, a type, a count and a value.
    for entry in 0..<count {
      let place = table + 2 + 12 * entry
      guard let tag = number(at: place, bytes: 2) else { return 1 }
      if tag == 0x0112 { return number(at: place + 8, bytes: number(at: place + 2, bytes: 2) == 4 ? 4 : 2) ?? 1 }
    }
    return 1
  }

  /// - Parameter orientation: as EXIF counts: 2 to 4 mirror or turn, and 5 to 8 exchange the sides too. Others change
  ///   nothing.
  private func turned(_ orientation: Int) -> Picture {
    // The first pixel, the step to the right and the step down, in pixels of this picture.
    let (start, right, down): (Int, Int, Int)
    switch orientation {
    case 2: (start, right, down) = (width - 1, -1, width)
    case 3: (start, right, down) = (width * height - 1, -1, -width)
    case 4: (start, right, down) = (width * (height - 1), 1, -width)
    case 5: (start, right, down) = (0, width, 1)
    case 6: (start, right, down) = (width * (height - 1), -width, 1)
    case 7: (start, right, down) = (width * height - 1, -width, -1)
    case 8: (start, right, down) = (width - 1, width, -1)
    default: return self
    }
    let (columns, rows) = orientation > 4 ? (height, width) : (width, height)
    let result = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
      let turned = UnsafeMutableRawBufferPointer(buffer)
      pixels.withUnsafeBytes { pixels in
        for row in 0..<rows {
          for column in 0..<columns {
            turned.store(pixels.pixel(start &+ row &* down &+ column &* right), at: row &* columns &+ column)
          }
        }
      }
      initialized = byteCount
    }
    return Picture(width: columns, height: rows, pixels: result)
  }
}
