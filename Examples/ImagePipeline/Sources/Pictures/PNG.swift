import CPNG

extension Picture {
  static func decodePNG(_ bytes: [UInt8], limits: DecodingLimits) throws(PictureError) -> Picture {
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    defer { png_image_free(&image) }
    return try bytes.withUnsafeBufferPointer { file throws(PictureError) in
      guard png_image_begin_read_from_memory(&image, file.baseAddress, file.count) != 0 else {
        throw .damaged(message(of: image))
      }
      let width = Int(image.width)
      let height = Int(image.height)
      try limits.check(width: width, height: height)
      try checkWarning(of: &image)
      image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR) | png_uint_32(PNG_FORMAT_FLAG_ALPHA)
      // Without a word in the file, colours of 16 bits are sRGB, as those of 8 bits are.
      image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
      var result: Int32 = 0
      let byteCount = width * height * 4
      let pixels = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
        result = png_image_finish_read(&image, nil, buffer.baseAddress, png_int_32(width * 4), nil)
        initialized = result == 0 ? 0 : byteCount
      }
      guard result != 0 else { throw .damaged(message(of: image)) }
      try checkWarning(of: &image)
      // The library reads no further than the last row.
      guard endsWell(file) else { throw .damaged("the end of the PNG file is missing") }
      return Picture(width: width, height: height, pixels: pixels)
    }
  }

  /// A warning is damage when it is about the pixels or a checksum. Others, as those about an odd colour profile, say nothing of it.
  private static func checkWarning(of image: inout png_image) throws(PictureError) {
    guard image.warning_or_error != 0 else { return }
    let message = message(of: image)
    if message.hasPrefix("IDAT") || message.hasSuffix("CRC error") { throw .damaged(message) }
    // The library keeps the first warning only.
    image.warning_or_error = 0
  }

  /// Whether the file has the last chunk of a PNG file, whose bytes are always the same. Bytes behind it do not matter.
  private static func endsWell(_ file: UnsafeBufferPointer<UInt8>) -> Bool {
    let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
    var start = file.count - end.count
    while start >= 0 {
      if file[start + 4] == end[4], file[start..<start + end.count].elementsEqual(end) { return true }
      start -= 1
    }
    return false
  }

  /// Whether a picture of that size fits into a PNG file of this library's: less than 2 GiB of pixels.
  public static func isEncodable(width: Int, height: Int) -> Bool {
    let (pixels, overflows) = width.multipliedReportingOverflow(by: height)
    return width > 0 && height > 0 && !overflows && pixels < 1 << 29
  }

  /// Makes a PNG file, with alpha. Reading it gives the same pixels.
  ///
  /// *Cost*: O(pixels), on the calling thread, and much more for a pixel than a JPEG file costs.
  ///
  /// - Throws: ``PictureError``: the file would be larger than the library can write.
  public func encodedPNG() throws(PictureError) -> [UInt8] {
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    guard let width = png_uint_32(exactly: width), let height = png_uint_32(exactly: height),
      Self.isEncodable(width: self.width, height: self.height)
    else {
      throw .notEncodable("a PNG file is made of less than 2 GiB of pixels: there are \(self.width) x \(self.height)")
    }
    image.width = width
    image.height = height
    image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR) | png_uint_32(PNG_FORMAT_FLAG_ALPHA)
    defer { png_image_free(&image) }
    let maximum = Int(cpng_maximum_size(&image))
    var result: Int32 = 0
    // Room for the worst case: to ask for the size would compress everything twice.
    let file = [UInt8](unsafeUninitializedCapacity: maximum) { buffer, initialized in
      var count = png_alloc_size_t(maximum)
      result = png_image_write_to_memory(&image, buffer.baseAddress, &count, 0, pixels, 0, nil)
      initialized = result == 0 ? 0 : Int(count)
    }
    guard result != 0 else { throw .notEncodable(Self.message(of: image)) }
    return [UInt8](file[...])
  }

  private static func message(of image: png_image) -> String {
    withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
