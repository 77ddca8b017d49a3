import CPictures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Picture {
  /// Makes a JPEG file. A transparent picture is laid over white, since JPEG has no alpha.
  ///
  /// From a quality of 90 on, colours are kept in full detail. Below, they have half the detail of the brightness,
  /// which is hard to see and makes smaller files.
  ///
  /// *Cost*: O(pixels), on the calling thread. Traps when `quality` is not from 1 to 100.
  ///
  /// - Parameter quality: from 1, small and coarse, to 100, large and fine. 85 suits photographs.
  /// - Throws: ``PictureError``: a side is longer than JPEG can tell, 65,500 pixels.
  public func encodedJPEG(quality: Int) throws(PictureError) -> [UInt8] {
    precondition((1...100).contains(quality), "a JPEG quality of \(quality): it must be from 1 to 100")
    guard max(width, height) <= 65_500 else {
      throw .notEncodable("a JPEG file has at most 65500 pixels a side: there are \(width) x \(height)")
    }
    var count = 0
    var message = [CChar](repeating: 0, count: 256)
    let made = cpictures_write_jpeg(
      overWhite(), UInt32(width), UInt32(height), cpictures_rgba, Int32(quality), quality >= 90, false, &count, &message
    )
    guard let made else { throw .notEncodable(message.withUnsafeBytes(Self.text)) }
    defer { free(made) }
    return [UInt8](UnsafeBufferPointer(start: made, count: count))
  }

  /// The pixels over a white ground. Opaque ones are not copied.
  private func overWhite() -> [UInt8] {
    guard stride(from: 3, to: pixels.count, by: 4).contains(where: { pixels[$0] != 255 }) else { return pixels }
    var result = pixels
    for start in stride(from: 0, to: pixels.count, by: 4) {
      let pixel = composed(
        SIMD4(pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3]), over: SIMD4(repeating: 255))
      for channel in 0..<4 { result[start + channel] = pixel[channel] }
    }
    return result
  }
}

/// A pixel laid over an opaque one.
@inline(__always)
func composed(_ pixel: SIMD4<UInt8>, over ground: SIMD4<UInt8>) -> SIMD4<UInt8> {
  let alpha = SIMD4<UInt32>(repeating: UInt32(pixel.w))
  let top = SIMD4<UInt32>(truncatingIfNeeded: pixel) &* alpha
  let bottom = SIMD4<UInt32>(truncatingIfNeeded: ground) &* (255 &- alpha)
  var result = SIMD4<UInt8>(truncatingIfNeeded: dividedBy255(top &+ bottom))
  result.w = 255
  return result
}

/// Divides numbers up to 65,025 by 255 and rounds, without a division.
@inline(__always)
func dividedBy255(_ numbers: SIMD4<UInt32>) -> SIMD4<UInt32> {
  let rounded = numbers &+ 128
  return (rounded &+ (rounded &>> 8)) &>> 8
}
