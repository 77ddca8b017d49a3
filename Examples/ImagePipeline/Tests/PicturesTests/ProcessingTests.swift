import Operations
import Pictures
import Testing

struct ProcessingTests {
  @Test(arguments: ["sepia", "grey", "blur:1", "blur:1000", "round:16", "round:10000"])
  func filtersAreReadBack(text: String) throws {
    #expect(try Processing.Filter(parsing: text).description == text)
  }

  @Test(arguments: ["unchanged", "size:1", "size:65535", "size:200,sepia,blur:4", "grey,round:8"])
  func processingsAreReadBack(text: String) throws {
    let processing = try Processing(parsing: text)
    #expect(processing.description == text)
    #expect(try Processing(parsing: processing.description) == processing)
  }

  @Test(arguments: [
    ("sharpen", "there is no filter \"sharpen\": the filters are sepia, grey, blur:<radius>, round:<radius>"),
    ("Sepia", "there is no filter \"Sepia\": the filters are sepia, grey, blur:<radius>, round:<radius>"),
    ("", "there is no filter \"\": the filters are sepia, grey, blur:<radius>, round:<radius>"),
    ("a\nb", "there is no filter \"a\\nb\": the filters are sepia, grey, blur:<radius>, round:<radius>"),
    ("blur", "blur takes a number from 1 to 1000, as in blur:1: there is none"),
    ("blur:", "blur takes a number from 1 to 1000, as in blur:1: there is none"),
    ("blur:0", "blur takes a number from 1 to 1000, as in blur:1: \"0\" is not one"),
    ("blur:-3", "blur takes a number from 1 to 1000, as in blur:1: \"-3\" is not one"),
    ("blur:+3", "blur takes a number from 1 to 1000, as in blur:1: \"+3\" is not one"),
    ("blur:1001", "blur takes a number from 1 to 1000, as in blur:1: \"1001\" is not one"),
    (
      "round:99999999999999999999",
      "round takes a number from 1 to 10000, as in round:1: \"99999999999999999999\" is not one"
    ),
    ("round:4:5", "round takes a number from 1 to 10000, as in round:1: \"4:5\" is not one"),
    ("sepia:4", "sepia takes no number: write sepia instead of \"sepia:4\""),
  ])
  func wrongFilters(text: String, message: String) {
    let error = #expect(throws: PictureError.self) { try Processing.Filter(parsing: text) }
    #expect(error?.description == message)
  }

  @Test(arguments: ["size", "size:0", "size:70000", "sepia,", ",sepia", "sepia,size:3", "sepia grey"])
  func wrongProcessings(text: String) {
    #expect(throws: PictureError.self) { try Processing(parsing: text) }
  }

  @Test
  func filtersFollowTheSizeInTheirOrder() {
    let picture = TestPicture.make(seed: 1, width: 64, height: 40)
    #expect(Processing().apply(to: picture) == picture)
    let both = Processing(size: 20, filters: [.grey, .blur(radius: 2)]).apply(to: picture)
    #expect(both == picture.downscaled(toFit: 20).grey().blurred(radius: 2))
    let other = Processing(filters: [.round(radius: 20), .blur(radius: 2)])
    #expect(
      other.apply(to: picture)
        != Processing(filters: other.filters.reversed()).apply(to: picture))
  }

  @Test
  func contactSheets() {
    let red = Picture.plain([255, 0, 0, 255], width: 32, height: 16)
    let large = Picture.plain([0, 0, 255, 255], width: 640, height: 320)
    let half = Picture.plain([0, 255, 0, 128], width: 32, height: 32)
    let sheet = ContactSheet.make([red, large, nil, half], cell: 32, columns: 3)
    // Gaps are of 2 pixels.
    #expect(sheet.width == 3 * 34 + 2 && sheet.height == 2 * 34 + 2)
    let ground = sheet.pixel(0, 0)
    #expect(ground[3] == 255 && ground[0] > 200)
    #expect(sheet.pixel(2, 10) == [255, 0, 0, 255] && sheet.pixel(33, 25) == [255, 0, 0, 255])
    #expect(sheet.pixel(2, 9) == ground && sheet.pixel(33, 26) == ground && sheet.pixel(1, 15) == ground)
    #expect(sheet.pixel(36, 10) == [0, 0, 255, 255] && sheet.pixel(36, 9) == ground)
    #expect(sheet.pixel(86, 17) != ground)
    let mixed = sheet.pixel(10, 40)
    #expect(mixed[3] == 255 && mixed[1] > ground[1] && mixed[0] < ground[0])
    #expect(sheet.pixel(60, 50) == ground)
    #expect(ContactSheet.make([], cell: 1, columns: 2).width == 5)
    for cell in 1...12 { _ = ContactSheet.make([nil, red], cell: cell, columns: 1) }
  }

  @Test
  func madeUpPictures() {
    let pictures = (0..<8).map { TestPicture.make(seed: $0, width: 40, height: 30) }
    #expect(Set(pictures.map(\.checksum)).count == 8)
    #expect(pictures[3] == TestPicture.make(seed: 3, width: 40, height: 30))
    for picture in pictures { #expect(picture.mean(3) == 255 && picture.byteCount == 4800) }
    for (width, height) in [(1, 1), (1, 50), (50, 1), (2, 3)] {
      for seed in 0..<20 { #expect(TestPicture.make(seed: UInt64(seed), width: width, height: height).width == width) }
    }
  }

  @Test
  func checksumsTellPicturesApart() {
    let picture = Picture.noise(seed: 1, width: 4, height: 6)
    #expect(picture.checksum != Picture(width: 6, height: 4, pixels: picture.pixels).checksum)
    var pixels = picture.pixels
    pixels[95] ^= 1
    #expect(picture.checksum != Picture(width: 4, height: 6, pixels: pixels).checksum)
  }

  @Test
  func misuseTraps() async {
    await #expect(processExitsWith: .failure) { _ = Picture(width: 2, height: 2, pixels: [1, 2, 3]) }
    await #expect(processExitsWith: .failure) { _ = Picture(width: 0, height: 2, pixels: []) }
    await #expect(processExitsWith: .failure) { _ = Processing(size: 0) }
    await #expect(processExitsWith: .failure) {
      _ = TestPicture.make(seed: 1, width: 2, height: 2).downscaled(toFit: 0)
    }
    await #expect(processExitsWith: .failure) {
      _ = TestPicture.make(seed: 1, width: 2, height: 2).blurred(radius: -1)
    }
    await #expect(processExitsWith: .failure) {
      _ = TestPicture.make(seed: 1, width: 2, height: 2).roundedCorners(radius: -1)
    }
    await #expect(processExitsWith: .failure) {
      _ = try TestPicture.make(seed: 1, width: 2, height: 2).encodedJPEG(quality: 101)
    }
  }
}
