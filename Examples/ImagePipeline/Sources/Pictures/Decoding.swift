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
    if overflows || pixels > maximumPixels {
      throw .tooLarge(width: width, height: height, maximumPixels: maximumPixels)
    }
  }
}

extension Picture {
  /// Reads a JPEG or PNG file.
  ///
  /// The first bytes tell which of the two it is; a name or a content type is not needed. Grey pictures, palettes and 16 bits a
  /// colour are converted. JPEG files have no alpha: the picture is opaque.
  ///
  /// A file that is cut short or changed is an error. A part of a picture is never returned. JPEG files have no checksum, though: a
  /// change that makes another valid file cannot be seen.
  ///
  /// With `fitting` a JPEG is read at a fraction of its size: the smallest from which `downscaled(toFit:on:)` still shrinks, to the
  /// same size as from the whole picture. That is several times as fast. A PNG is always read whole.
  ///
  /// *Cost*: O(pixels), on the calling thread. The function shares nothing, so that any number of threads may call it.
  ///
  /// Traps when `size` is below 1.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - limits: how large a picture may be. They hold for the size in the file, with `fitting` too.
  ///   - size: the longest side that is needed, in pixels. The picture may be larger.
  /// - Throws: ``PictureError``: the format is unknown or not supported, the file is damaged, or the picture is too large.
  public static func decode(
    _ bytes: [UInt8], limits: DecodingLimits = DecodingLimits(), fitting size: Int? = nil
  ) throws(PictureError) -> Picture {
    if let size { checkSize(size) }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return try decodeJPEG(bytes, limits: limits, fitting: size) }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return try decodePNG(bytes, limits: limits) }
    throw .unknownFormat
  }

  static func checkSize(_ size: Int) {
    precondition(size >= 1, "a picture was to be \(size) pixels large: the size must be at least 1")
  }
}
