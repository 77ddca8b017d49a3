import CPNG
import CTurboJPEG
import Operations
import Pictures
import Testing

/// One of each kind. A loop uses the calling thread too.
let backends: [any Backend] = [.dispatch, .threadPool(workers: 2), .stealing(workers: 3)]

/// Numbers that look random, by the rule of SplitMix64.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

extension Picture {
  /// A picture of one colour.
  static func plain(_ colour: [UInt8], width: Int, height: Int) -> Picture {
    made(width: width, height: height) { _, _ in colour }
  }

  static func made(width: Int, height: Int, _ colour: (_ x: Int, _ y: Int) -> [UInt8]) -> Picture {
    var pixels: [UInt8] = []
    for y in 0..<height { for x in 0..<width { pixels += colour(x, y) } }
    return Picture(width: width, height: height, pixels: pixels)
  }

  /// Any colours with any alpha.
  static func noise(seed: UInt64, width: Int, height: Int) -> Picture {
    var numbers = Seeded(state: seed)
    return Picture(
      width: width, height: height,
      pixels: (0..<width * height * 4).map { _ in UInt8.random(in: 0...255, using: &numbers) })
  }

  func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(pixels[(y * width + x) * 4..<(y * width + x) * 4 + 4]) }

  /// The mean of a channel.
  func mean(_ channel: Int) -> Double {
    Double(stride(from: channel, to: pixels.count, by: 4).reduce(0) { $0 + Int(pixels[$1]) }) / Double(width * height)
  }

  /// The mean of the squares of differences. 65 is a peak signal to noise ratio of 30 decibels, 20.6 one of 35.
  func squaredError(from other: Picture) -> Double {
    let sum = zip(pixels, other.pixels).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
    return Double(sum) / Double(pixels.count)
  }
}

/// A PNG file of any format of the library, which reads 16 bits a channel where the format is linear.
func pngFile(_ pixels: [UInt16], format: UInt32, width: Int, height: Int, colours: [UInt8]? = nil) -> [UInt8] {
  var image = png_image()
  image.version = png_uint_32(PNG_IMAGE_VERSION)
  image.width = png_uint_32(width)
  image.height = png_uint_32(height)
  image.format = format
  image.colormap_entries = png_uint_32((colours?.count ?? 0) / 4)
  var file = [UInt8](repeating: 0, count: 100_000)
  var count = file.count
  let bytes = pixels.map { UInt8(truncatingIfNeeded: $0) }
  let isWide = format & png_uint_32(PNG_FORMAT_FLAG_LINEAR) != 0
  let result =
    isWide
    ? png_image_write_to_memory(&image, &file, &count, 0, pixels, 0, nil)
    : png_image_write_to_memory(&image, &file, &count, 0, bytes, 0, colours)
  #expect(result != 0)
  return Array(file[..<count])
}

/// A JPEG file of any format of the library.
func jpegFile(_ pixels: [UInt8], format: TJPF, sampling: TJSAMP, width: Int, height: Int, flags: Int32 = 0) -> [UInt8] {
  let handle = tjInitCompress()
  defer { tjDestroy(handle) }
  var file: UnsafeMutablePointer<UInt8>?
  var count: UInt = 0
  defer { tjFree(file) }
  let result = tjCompress2(
    handle, pixels, Int32(width), 0, Int32(height), Int32(format.rawValue), &file, &count, Int32(sampling.rawValue), 90,
    flags)
  #expect(result == 0)
  return Array(UnsafeBufferPointer(start: file, count: Int(count)))
}

/// Where a text stands in a file.
func place(of text: String, in file: [UInt8]) -> Int? {
  let wanted = Array(text.utf8)
  return file.indices.first { file[$0...].starts(with: wanted) }
}

/// Changes the size in a PNG file's header, and the checksum with it.
func pngFile(_ file: [UInt8], claiming width: UInt32, by height: UInt32) -> [UInt8] {
  var file = file
  for index in 0..<4 {
    file[16 + index] = UInt8(truncatingIfNeeded: width >> (24 - 8 * index))
    file[20 + index] = UInt8(truncatingIfNeeded: height >> (24 - 8 * index))
  }
  var sum: UInt32 = .max
  for byte in file[12..<29] {
    sum ^= UInt32(byte)
    for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
  }
  for index in 0..<4 { file[29 + index] = UInt8(truncatingIfNeeded: ~sum >> (24 - 8 * index)) }
  return file
}

/// The number of a JPEG file's byte behind the marker of its header. The height stands 3 bytes on, the width 5.
func frameHeader(of file: [UInt8]) -> Int? {
  file.indices.dropLast().first { file[$0] == 0xFF && (0xC0...0xC2).contains(file[$0 + 1]) }.map { $0 + 2 }
}
