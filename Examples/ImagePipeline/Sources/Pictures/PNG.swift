import CPNG

extension Picture {
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
    guard result != 0 else { throw .notEncodable(withUnsafeBytes(of: image.message, Self.text)) }
    return [UInt8](file[...])
  }
}
