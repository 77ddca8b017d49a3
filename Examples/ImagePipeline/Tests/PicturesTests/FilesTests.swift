import CPNG
import CPictures
import Pictures
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct FilesTests {
  static let sizes = [(1, 1), (1, 9), (13, 1), (2, 2), (33, 17), (120, 90)]

  private func isDamage(_ error: PictureError?) -> Bool {
    if case .damaged = error { true } else { false }
  }

  @Test(arguments: sizes)
  func pngKeepsEachPixel(width: Int, height: Int) throws {
    for picture in [
      Picture.noise(seed: 1, width: width, height: height), TestPicture.make(seed: 2, width: width, height: height),
    ] {
      #expect(try Picture.decode(picture.encodedPNG()) == picture)
    }
  }

  @Test(arguments: sizes)
  func jpegIsNear(width: Int, height: Int) throws {
    let picture = TestPicture.make(seed: 3, width: width, height: height)
    for (quality, error) in [(60, 65.0), (85, 35), (95, 15)] {
      let read = try Picture.decode(picture.encodedJPEG(quality: quality))
      #expect(read.width == width && read.height == height)
      // A few pixels of a landscape are as rough as noise.
      if width > 30 { #expect(read.squaredError(from: picture) < error) }
      #expect(read.mean(3) == 255)
    }
  }

  @Test
  func transparencyIsLaidOverWhite() throws {
    let picture = Picture.plain([255, 0, 0, 0], width: 16, height: 16)
    let half = Picture.plain([0, 0, 0, 128], width: 16, height: 16)
    #expect(
      try Picture.decode(picture.encodedJPEG(quality: 95)) == .plain([255, 255, 255, 255], width: 16, height: 16))
    #expect(try Picture.decode(half.encodedJPEG(quality: 95)).pixel(3, 3) == [127, 127, 127, 255])
  }

  @Test
  func pngsOfOtherKindsAreConverted() throws {
    let grey = pngFile([0, 128, 255, 7], format: 0, width: 2, height: 2)
    #expect(try Picture.decode(grey).pixels == [0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255, 7, 7, 7, 255])

    let rgba = UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
    let palette = pngFile(
      [2, 0, 1], format: rgba | UInt32(PNG_FORMAT_FLAG_COLORMAP), width: 3, height: 1,
      colours: [1, 2, 3, 255, 40, 50, 60, 128, 255, 0, 9, 255])
    #expect(try Picture.decode(palette).pixels == [255, 0, 9, 255, 1, 2, 3, 255, 40, 50, 60, 128])

    // 16 bits, proportional to the light: 0.2140 of it is 127.5 of 255 on the scale of sRGB.
    let linear = pngFile([0, 14_025, 65_535], format: UInt32(PNG_FORMAT_FLAG_LINEAR), width: 3, height: 1)
    let read = try Picture.decode(linear)
    #expect(read.pixel(0, 0) == [0, 0, 0, 255] && read.pixel(2, 0) == [255, 255, 255, 255])
    #expect((126...129).contains(read.pixel(1, 0)[0]))

    // Without a word on that, 16 bits are on the scale of sRGB.
    let gamma = try #require(place(of: "gAMA", in: linear))
    let silent = Array(linear[..<(gamma - 4)] + linear[(gamma + 12)...])
    #expect((53...56).contains(try Picture.decode(silent).pixel(1, 0)[0]))
  }

  @Test
  func jpegsOfOtherKinds() throws {
    let grey = jpegFile([UInt8](repeating: 77, count: 64), cpictures_grey, width: 8, height: 8)
    #expect(try Picture.decode(grey) == .plain([77, 77, 77, 255], width: 8, height: 8))

    let cmyk = jpegFile([UInt8](repeating: 9, count: 256), cpictures_cmyk, width: 8, height: 8)
    let error = #expect(throws: PictureError.self) { try Picture.decode(cmyk) }
    #expect(error == .unsupported("the JPEG file has printing colours (CMYK): RGB or grey was expected"))

    let picture = TestPicture.make(seed: 4, width: 60, height: 40)
    let progressive = jpegFile(picture.pixels, width: 60, height: 40, isProgressive: true)
    #expect(try Picture.decode(progressive).squaredError(from: picture) < 35)
  }

  @Test
  func otherBytesAreNoPicture() {
    for bytes in [[], [0xFF], [0xFF, 0xD8], Array("GIF89a".utf8), Array("<html>".utf8), [0x89, 0x50]] as [[UInt8]] {
      #expect(throws: PictureError.unknownFormat) { try Picture.decode(bytes) }
    }
    for bytes in [[0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47]] as [[UInt8]] {
      let error = #expect(throws: PictureError.self) { try Picture.decode(bytes) }
      #expect(isDamage(error))
    }
  }

  /// Bytes of address space.
  private func addressSpace() throws -> Int {
    let file = try #require(fopen("/proc/self/statm", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 100)
    fgets(&line, 100, file)
    let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return try #require(Int(text.prefix { $0 != " " })) * 4096
  }

  @Test
  func hugeHeadersTakeNoMemory() throws {
    let small = TestPicture.make(seed: 1, width: 8, height: 8)
    let png = pngFile(try small.encodedPNG(), claiming: 60_000, by: 60_000)
    var jpeg = try small.encodedJPEG(quality: 80)
    let header = try #require(frameHeader(of: jpeg))
    for index in [3, 5] { jpeg.replaceSubrange(header + index..<header + index + 2, with: [0xEA, 0x60]) }
    let before = try addressSpace()
    for (file, fitting) in [(png, nil), (jpeg, nil), (jpeg, 10)] as [([UInt8], Int?)] {
      let error = #expect(throws: PictureError.self) { try Picture.decode(file, fitting: fitting) }
      #expect(error == .tooLarge(width: 60_000, height: 60_000, maximumPixels: 50_000_000))
      #expect(error?.description == "the picture has 60000 x 60000 pixels: at most 50000000 pixels are allowed")
    }
    // The pixels would take 14 GB. Other tests take some memory meanwhile.
    #expect(try addressSpace() - before < 2_000_000_000)

    // A size that is allowed, with pixels that are not there.
    let empty = pngFile(try small.encodedPNG(), claiming: 500, by: 500)
    let error = #expect(throws: PictureError.self) { try Picture.decode(empty) }
    #expect(isDamage(error))
    #expect(throws: PictureError.tooLarge(width: 8, height: 8, maximumPixels: 63)) {
      try Picture.decode(small.encodedPNG(), limits: DecodingLimits(maximumPixels: 63))
    }
    #expect(try Picture.decode(small.encodedPNG(), limits: DecodingLimits(maximumPixels: 64)) == small)
  }

  @Test
  func truncatedFilesAreDamaged() throws {
    let picture = TestPicture.make(seed: 5, width: 150, height: 110)
    let progressive = jpegFile(picture.pixels, width: 150, height: 110, isProgressive: true)
    for file in [try picture.encodedJPEG(quality: 90), progressive, try picture.encodedPNG()] {
      let ends = (0..<200).map { $0 * file.count / 200 } + (1...20).map { file.count - $0 }
      for end in ends {
        for fitting in [nil, 20] {
          do {
            // The end mark of a JPEG file is no pixel, and neither are the bits that fill its last byte.
            let read = try Picture.decode(Array(file[..<end]), fitting: fitting)
            #expect(try file[0] == 0xFF && end > file.count - 10 && read == Picture.decode(file, fitting: fitting))
          } catch let error as PictureError {
            let comment: Comment = "the first \(end) of \(file.count) bytes: \(error)"
            #expect(end < 4 ? error == .unknownFormat || isDamage(error) : isDamage(error), comment)
          }
        }
      }
    }
  }

  @Test
  func changedFilesNeverCrash() throws {
    let picture = TestPicture.make(seed: 6, width: 90, height: 70)
    let files = [try picture.encodedJPEG(quality: 90), try picture.encodedPNG()]
    let limits = DecodingLimits(maximumPixels: 1_000_000)
    let clock = ContinuousClock()
    for (isPNG, file) in zip([false, true], files) {
      var numbers = Seeded(state: 7)
      for round in 0..<500 {
        var changed = file
        // The first bytes are the interesting ones: half of the changes are there.
        let count = round % 5 == 0 ? Int.random(in: 2...20, using: &numbers) : 1
        for _ in 0..<count {
          let place = Int.random(in: 0..<(round % 2 == 0 ? 100 : file.count), using: &numbers)
          changed[place] ^= UInt8.random(in: 1...255, using: &numbers)
        }
        let start = clock.now
        do {
          let read = try Picture.decode(changed, limits: limits)
          // A PNG file has checksums everywhere.
          if isPNG { #expect(read == picture) }
        } catch { #expect(!error.description.contains("\n")) }
        #expect(clock.now - start < .seconds(600))
      }
    }
  }

  @Test
  func fittingGivesTheSameSizeAsTheWholePicture() throws {
    for (width, height) in [(640, 480), (333, 97), (97, 334), (8, 8), (17, 300), (1, 1)] {
      let picture = TestPicture.make(seed: 8, width: width, height: height)
      let file = try picture.encodedJPEG(quality: 95)
      for size in [1, 7, 50, 96, 97, 200, 480, 5000] {
        let read = try Picture.decode(file, fitting: size)
        let small = read.downscaled(toFit: size)
        let whole = try Picture.decode(file).downscaled(toFit: size)
        #expect(small.width == whole.width && small.height == whole.height, "\(width) x \(height) to \(size)")
        #expect(read.width >= small.width && read.height >= small.height)
        if size >= 50 { #expect(small.squaredError(from: whole) < 65) }
      }
    }
    let large = try TestPicture.make(seed: 8, width: 800, height: 600).encodedJPEG(quality: 90)
    let read = try Picture.decode(large, fitting: 100)
    #expect(read.width == 100 && read.height == 75)
  }

  @Test
  func filesAreReadAtTheSameTime() async throws {
    let pictures = (0..<4).map { TestPicture.make(seed: UInt64($0), width: 100, height: 80) }
    let files = try pictures.map { (try $0.encodedPNG(), try $0.encodedJPEG(quality: 90)) }
    let jpegs = try files.map { try Picture.decode($0.1) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<40 {
            let index = (task + round) % 4
            let png = try Picture.decode(files[index].0)
            let jpeg = try Picture.decode(files[index].1)
            #expect(png == pictures[index])
            #expect(jpeg == jpegs[index])
            #expect(throws: PictureError.self) { try Picture.decode(Array(files[index].1.dropLast(50))) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test
  func tooLargeForAFormat() {
    let long = Picture.plain([1, 2, 3, 255], width: 1, height: 65_501)
    #expect(throws: PictureError.notEncodable("a JPEG file has at most 65500 pixels a side: there are 1 x 65501")) {
      try long.encodedJPEG(quality: 80)
    }
  }
}
