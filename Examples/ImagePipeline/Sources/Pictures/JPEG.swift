import CTurboJPEG

extension Picture {
  /// Each call has a handle of its own, which no other thread sees.
  static func decodeJPEG(_ bytes: [UInt8], limits: DecodingLimits, fitting size: Int?) throws(PictureError) -> Picture {
    guard let handle = tjInitDecompress() else { throw .unsupported("the JPEG library could not be started") }
    defer { tjDestroy(handle) }
    var width: Int32 = 0
    var height: Int32 = 0
    var subsampling: Int32 = 0
    var colours: Int32 = 0
    let count = UInt(bytes.count)
    guard tjDecompressHeader3(handle, bytes, count, &width, &height, &subsampling, &colours) == 0 else {
      throw .damaged(message(of: handle))
    }
    try limits.check(width: Int(width), height: Int(height))
    // Which ink means what follows from a profile that is not read. A guess would give wrong colours without a word.
    if colours == Int32(TJCS_CMYK.rawValue) || colours == Int32(TJCS_YCCK.rawValue) {
      throw .unsupported("the JPEG file has printing colours (CMYK): RGB or grey was expected")
    }
    if let size { (width, height) = reduced(width: width, height: height, fitting: size) }
    // A warning, such as a premature end, leaves part of the pixels grey: it is an error here.
    let flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS
    var result: Int32 = 0
    let byteCount = Int(width) * Int(height) * 4
    let pixels = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
      result = tjDecompress2(
        handle, bytes, count, buffer.baseAddress, width, width * 4, height, Int32(TJPF_RGBA.rawValue), flags)
      initialized = result == 0 ? byteCount : 0
    }
    guard result == 0 else { throw .damaged(message(of: handle)) }
    return Picture(width: Int(width), height: Int(height), pixels: pixels)
  }

  /// The smallest size that the library decodes to and that still shrinks to the same size as the whole picture.
  private static func reduced(width: Int32, height: Int32, fitting size: Int) -> (Int32, Int32) {
    let target = fitted(width: Int(width), height: Int(height), to: size)
    var best = (width, height)
    var count: Int32 = 0
    guard let factors = tjGetScalingFactors(&count) else { return best }
    for factor in UnsafeBufferPointer(start: factors, count: Int(count)) where factor.num < factor.denom {
      // As the library's macro TJSCALED does.
      func scaled(_ side: Int32) -> Int32 { (side * factor.num + factor.denom - 1) / factor.denom }
      let candidate = (scaled(width), scaled(height))
      guard candidate.0 < best.0 || candidate.1 < best.1 else { continue }
      guard Int(candidate.0) >= target.width, Int(candidate.1) >= target.height else { continue }
      if fitted(width: Int(candidate.0), height: Int(candidate.1), to: size) == target { best = candidate }
    }
    return best
  }

  /// Makes a JPEG file. A transparent picture is laid over white, since JPEG has no alpha.
  ///
  /// From a quality of 90 on, colours are kept in full detail. Below, they have half the detail of the brightness, which is hard to
  /// see and makes smaller files.
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
    guard let handle = tjInitCompress() else { throw .notEncodable("the JPEG library could not be started") }
    defer { tjDestroy(handle) }
    let source = overWhite()
    let subsampling = quality >= 90 ? TJSAMP_444 : TJSAMP_420
    var file: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    defer { tjFree(file) }
    let result = tjCompress2(
      handle, source, Int32(width), Int32(width * 4), Int32(height), Int32(TJPF_RGBA.rawValue), &file, &count,
      Int32(subsampling.rawValue), Int32(quality), 0)
    guard result == 0, let file else { throw .notEncodable(Self.message(of: handle)) }
    return [UInt8](UnsafeBufferPointer(start: file, count: Int(count)))
  }

  private static func message(of handle: tjhandle) -> String {
    tjGetErrorStr2(handle).map { String(cString: $0) } ?? "no reason was given"
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
