import CPNG
import CPictures
import Operations
import Pictures
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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

/// A JPEG file of any kind of colours.
func jpegFile(
  _ pixels: [UInt8], _ colours: cpictures_colours = cpictures_rgba, width: Int, height: Int, isProgressive: Bool = false
) -> [UInt8] {
  var (count, message) = (0, [CChar](repeating: 0, count: 256))
  let made = cpictures_write_jpeg(
    pixels, UInt32(width), UInt32(height), colours, 90, false, isProgressive, &count, &message)
  defer { free(made) }
  #expect(made != nil)
  return Array(UnsafeBufferPointer(start: made, count: count))
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
  file.replaceSubrange(29..<33, with: pngNumber(pngChecksum(file[12..<29])))
  return file
}

private func pngNumber(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
}

private func pngChecksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
  ~bytes.reduce(.max) { sum, byte in
    (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
  }
}

/// A PNG file with one chunk more: in front of the pixels, or at the end.
func pngFile(
  _ file: [UInt8], adding name: String, _ bytes: [UInt8], atEnd: Bool = false, hasRightChecksum: Bool = true
) -> [UInt8] {
  let body = Array(name.utf8) + bytes
  let chunk = pngNumber(UInt32(bytes.count)) + body + pngNumber(pngChecksum(body) ^ (hasRightChecksum ? 0 : 1))
  let start = atEnd ? file.count - 12 : (place(of: "IDAT", in: file) ?? 4) - 4
  return Array(file[..<start] + chunk + file[start...])
}

/// A JPEG file with one segment more, behind its first mark.
func jpegFile(_ file: [UInt8], adding marker: UInt8, _ bytes: [UInt8]) -> [UInt8] {
  Array(
    file[..<2] + [0xFF, marker, UInt8((bytes.count + 2) >> 8), UInt8((bytes.count + 2) & 255)] + bytes + file[2...])
}

/// EXIF data with an orientation.
func exif(orientation: UInt8, isLittle: Bool) -> [UInt8] {
  isLittle
    ? Array("II".utf8) + [42, 0, 8, 0, 0, 0, 2, 0] + [0x00, 0x01, 4, 0, 1, 0, 0, 0, 9, 0, 0, 0]
      + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0] + [0, 0, 0, 0]
    : Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 2] + [0x01, 0x00, 0, 4, 0, 0, 0, 1, 0, 0, 0, 9]
      + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0] + [0, 0, 0, 0]
}

/// The number of a JPEG file's byte behind the marker of its header. The height stands 3 bytes on, the width 5.
func frameHeader(of file: [UInt8]) -> Int? {
  file.indices.dropLast().first { file[$0] == 0xFF && (0xC0...0xC2).contains(file[$0 + 1]) }.map { $0 + 2 }
}
