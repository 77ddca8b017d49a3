import CPictures
import Pictures
import Testing

/// What files say of themselves, and what is wrong in files whose pixels are all there.
struct OddFilesTests {
  private static let picture = TestPicture.make(seed: 9, width: 60, height: 42)

  private static func jpeg(isProgressive: Bool = false) -> [UInt8] {
    jpegFile(picture.pixels, width: picture.width, height: picture.height, isProgressive: isProgressive)
  }

  private static func withEXIF(_ file: [UInt8], _ data: [UInt8], atEnd: Bool = false) -> [UInt8] {
    file[0] == 0xFF
      ? jpegFile(file, adding: 0xE1, Array("Exif".utf8) + [0, 0] + data)
      : pngFile(file, adding: "eXIf", data, atEnd: atEnd)
  }

  /// EXIF's own words: at which side the first row is to be seen, and at which the first column.
  private static func turned(_ picture: Picture, _ orientation: Int) -> Picture {
    let sides = [
      "top left", "top right", "bottom right", "bottom left", "left top", "right top", "right bottom", "left bottom",
    ]
    let words = sides[orientation - 1].split(separator: " ")
    let (row, column) = (words[0], words[1])
    let isUpright = row == "top" || row == "bottom"
    let (width, height) = isUpright ? (picture.width, picture.height) : (picture.height, picture.width)
    return .made(width: width, height: height) { x, y in
      func distance(_ side: Substring) -> Int {
        switch side {
        case "top": y
        case "bottom": height - 1 - y
        case "left": x
        default: width - 1 - x
        }
      }
      return picture.pixel(distance(column), distance(row))
    }
  }

  @Test("a picture is turned as its EXIF data say", arguments: 1...8)
  func orientations(_ orientation: Int) throws {
    for isLittle in [true, false] {
      let data = exif(orientation: UInt8(orientation), isLittle: isLittle)
      let png = try Self.picture.encodedPNG()
      let files = [
        (Self.jpeg(), false), (Self.jpeg(isProgressive: true), false), (png, false), (png, true),
      ]
      for (file, atEnd) in files {
        let odd = Self.withEXIF(file, data, atEnd: atEnd)
        let read = try Picture.decode(odd)
        #expect(try read == Self.turned(Picture.decode(file), orientation))
        // Sizes are those behind the turn, and a smaller picture is the same as of the whole one.
        let small = try Picture.decode(odd, fitting: 20).downscaled(toFit: 20)
        #expect(small.width == (orientation > 4 ? 14 : 20) && small.height == (orientation > 4 ? 20 : 14))
        #expect(small.squaredError(from: read.downscaled(toFit: 20)) < 65)
      }
    }
  }

  @Test("EXIF data that make no sense turn nothing")
  func oddEXIF() throws {
    let good = exif(orientation: 6, isLittle: false)
    var cases = (0..<28).map { Array(good.prefix($0)) }
    cases += [
      exif(orientation: 0, isLittle: true), exif(orientation: 9, isLittle: false),
      exif(orientation: 255, isLittle: true),
    ]
    // The table lies far away; there is no end of entries; another number stands where 42 is.
    cases += [Array("MM".utf8) + [0, 42, 255, 255, 255, 255], Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 255, 255]]
    cases += [Array("II".utf8) + [43] + exif(orientation: 6, isLittle: true)[3...]]
    for file in [Self.jpeg(), try Self.picture.encodedPNG()] {
      let plain = try Picture.decode(file)
      for data in cases { #expect(try Picture.decode(Self.withEXIF(file, data)) == plain, "\(data)") }
    }
    // The first EXIF data count, and another program's data under the same mark do not.
    let twice = jpegFile(
      Self.withEXIF(Self.withEXIF(Self.jpeg(), exif(orientation: 3, isLittle: true)), good), adding: 0xE1,
      Array("http:".utf8))
    #expect(try Picture.decode(twice) == Self.turned(Picture.decode(Self.jpeg()), 6))
  }

  @Test("a colour profile is not applied: colours are taken for sRGB; the scale of brightness of a PNG file is applied")
  func colourProfiles() throws {
    let profile = [UInt8](repeating: 7, count: 600)
    let jpeg = Self.jpeg()
    #expect(
      try Picture.decode(jpegFile(jpeg, adding: 0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile))
        == Picture.decode(jpeg))
    let png = pngFile([128, 64, 200], format: 0, width: 3, height: 1)
    #expect(try Picture.decode(pngFile(png, adding: "iCCP", Array("wide\0\0".utf8) + profile)) == Picture.decode(png))
    // The library's files say that they are sRGB. Half of the light is 188 there, and 186 by the power of 2.2 that the
    // library takes.
    let word = try #require(place(of: "sRGB", in: png))
    let silent = Array(png[..<(word - 4)] + png[(word + 9)...])
    #expect(try Picture.decode(silent) == Picture.decode(png))
    #expect(
      (185...189).contains(try Picture.decode(pngFile(silent, adding: "gAMA", [0, 1, 0x86, 0xA0])).pixel(0, 0)[0]))
  }

  /// Files whose pixels are all there. The library's own programs show them too.
  private static let sound: [(name: String, change: @Sendable ([UInt8]) -> [UInt8])] = [
    (
      "a maker's data before the end mark",
      { $0.dropLast(2) + Array("SEFH of a maker".utf8) + [0, 0xFF, 0, 0xFF, 0xD9] }
    ),
    ("zeros before the end mark", { $0.dropLast(2) + [UInt8](repeating: 0, count: 5000) + [0xFF, 0xD9] }),
    ("no end mark", { $0.dropLast(2) }),
    ("half an end mark", { $0.dropLast(1) }),
    ("zeros in place of the end mark", { $0.dropLast(2) + [0, 0, 0, 0] }),
    ("bytes behind the end mark", { $0 + Array("more".utf8) }),
    (
      "a later JFIF revision",
      { file in
        var file = file
        file[place(of: "JFIF", in: file)! + 5] = 2
        return file
      }
    ),
    ("an odd code of Adobe's", { jpegFile($0, adding: 0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 9]) }),
  ]

  @Test("a JPEG file that has lost no pixel is read", arguments: sound.map(\.name))
  func soundJPEG(name: String) throws {
    let change = try #require(Self.sound.first { $0.name == name }).change
    for isProgressive in [false, true] {
      let file = Self.jpeg(isProgressive: isProgressive)
      for fitting in [nil, 10] {
        #expect(
          try Picture.decode(change(file), fitting: fitting) == Picture.decode(file, fitting: fitting),
          "\(isProgressive)")
      }
    }
  }

  @Test("a sequential JPEG file may name the spectral selection of a progressive one")
  func spectralSelection() throws {
    var file = Self.jpeg()
    let scan = try #require(file.indices.first { file[$0...].starts(with: [0xFF, 0xDA]) })
    // Behind the mark: length, the number of components, two bytes for each, the first and the last coefficient.
    file[scan + 12] = 0
    #expect(try Picture.decode(file) == Picture.decode(Self.jpeg()))
  }

  /// The beginnings of the scans of a JPEG file.
  private static func scans(of file: [UInt8]) -> [Int] {
    file.indices.filter { file[$0...].starts(with: [0xFF, 0xDA]) }
  }

  @Test("a JPEG file that has lost pixels is damaged, whatever else is right")
  func lostPixels() throws {
    let (plain, progressive) = (Self.jpeg(), Self.jpeg(isProgressive: true))
    // Whole scans are missing, and the end mark with them: with it, the file is a coarse one, as its maker wanted.
    var lost: [[UInt8]] = Self.scans(of: progressive).dropFirst().map { Array(progressive[..<$0]) }
    #expect(lost.count > 5)
    #expect(throws: Never.self) { try Picture.decode(lost[lost.count - 1] + [0xFF, 0xD9]) }
    // The pixels break off, and zeros, an end mark or something else follow.
    let middle = plain.count - 300
    lost += [[], [0xFF, 0xD9], [0, 0], Array("SEFH".utf8)].map { plain[..<middle] + $0 }
    for file in lost {
      for fitting in [nil, 10] {
        let error = #expect(throws: PictureError.self) { try Picture.decode(file, fitting: fitting) }
        if case .damaged = error {} else { Issue.record("\(String(describing: error))") }
      }
    }
  }

  @Test("a JPEG file that asks for the same pixels again and again is refused")
  func tooManyScans() throws {
    let file = Self.jpeg(isProgressive: true)
    let last = try #require(Self.scans(of: file).last)
    let scan = file[last..<file.count - 2]
    let again = Array(file.dropLast(2)) + Array(repeatElement(scan, count: 600).joined()) + [0xFF, 0xD9]
    #expect(throws: PictureError.self) { try Picture.decode(again) }
  }

  @Test("a PNG file that has lost no pixel is read; one that has lost alpha or pixels is damaged")
  func wrongChecksums() throws {
    let file = try Self.picture.encodedPNG()
    for atEnd in [true, false] {
      for name in ["tEXt", "tIME", "prVt"] {
        let odd = pngFile(file, adding: name, Array("Comment\0words".utf8), atEnd: atEnd, hasRightChecksum: false)
        #expect(try Picture.decode(odd) == Self.picture, "\(name), \(atEnd)")
      }
    }
    // More compressed bytes than pixels: behind the stream, and in a chunk of their own.
    for bytes in [[0], [UInt8](repeating: 9, count: 5000)] {
      #expect(try Picture.decode(pngFile(file, adding: "IDAT", bytes, atEnd: true)) == Self.picture)
    }
    let start = try #require(place(of: "IDAT", in: file)) - 4
    let count = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    let stream = Array(file[start + 8..<start + 8 + count])
    let longer = pngFile(
      Array(file[..<start] + file[(start + 12 + count)...]), adding: "IDAT", stream + [1, 2, 3], atEnd: true)
    #expect(try Picture.decode(longer) == Self.picture)
    // The end of the PNG file is missing.
    #expect(throws: PictureError.damaged("the file ends too early")) { try Picture.decode(Array(file.dropLast(12))) }

    // What the pixels are made of.
    let grey = pngFile([0, 128, 255, 7], format: 0, width: 2, height: 2)
    let clear = pngFile(grey, adding: "tRNS", [0, 128])
    #expect(try Picture.decode(clear).pixel(1, 0)[3] == 0)
    for name in ["tRNS", "gAMA", "sRGB"] {
      let bytes: [UInt8] = name == "tRNS" ? [0, 128] : name == "gAMA" ? [0, 1, 0x86, 0xA0] : [0]
      let error = #expect(throws: PictureError.self) {
        try Picture.decode(pngFile(grey, adding: name, bytes, hasRightChecksum: false))
      }
      #expect(error == .damaged("\(name): CRC error"))
    }
    var changed = file
    changed[start + 8 + count] ^= 1
    #expect(throws: PictureError.damaged("IDAT: CRC error")) { try Picture.decode(changed) }
  }

  @Test("numbers of a header reach no conversion that traps, however large the limit is")
  func hugeSizes() throws {
    let small = try Self.picture.encodedPNG()
    let limits = DecodingLimits(maximumPixels: .max)
    for (width, height) in [(0x7FFF_FFFF, 0x7FFF_FFFF), (0x8000_0000, 1), (0xFFFF_FFFF, 0xFFFF_FFFF), (0, 5)]
      as [(UInt32, UInt32)]
    {
      #expect(throws: PictureError.self) {
        try Picture.decode(pngFile(small, claiming: width, by: height), limits: limits)
      }
    }
    #expect(throws: PictureError.tooLarge(width: 2_000_000, height: 1000, maximumPixels: 50_000_000)) {
      try Picture.decode(pngFile(small, claiming: 2_000_000, by: 1000))
    }
  }
}
