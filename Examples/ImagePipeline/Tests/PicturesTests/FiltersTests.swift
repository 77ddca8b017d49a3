import Operations
import Pictures
import Testing

struct FiltersTests {
  static let sizes = [(1, 1), (1, 9), (13, 1), (2, 3), (33, 17), (61, 40)]

  @Test(arguments: sizes)
  func eachBackendGivesTheSame(width: Int, height: Int) throws {
    let texts = ["size:7", "size:32", "sepia", "grey", "blur:1", "blur:50", "round:5", "size:20,blur:3,round:9,sepia"]
    for picture in [
      Picture.noise(seed: 1, width: width, height: height), TestPicture.make(seed: 2, width: width, height: height),
    ] {
      for processing in try texts.map({ try Processing(parsing: $0) }) {
        let results = backends.map { $0.run { processing.apply(to: picture) } }
        #expect(results.allSatisfy { $0 == results[0] }, "\(processing)")
        #expect(results[0].checksum == results[1].checksum)
      }
    }
  }

  /// Values that another machine, compiler or build must give too.
  @Test
  func resultsAreTheSameOnEachMachine() throws {
    let picture = TestPicture.make(seed: 1, width: 75, height: 50)
    #expect(picture.checksum == 1_359_598_258_990_685_721)
    let texts = ["size:31", "sepia", "grey", "blur:3", "round:11"]
    let noise = Picture.noise(seed: 5, width: 75, height: 50)
    let sums = try texts.map { text in try backends[2].run { try Processing(parsing: text).apply(to: noise).checksum } }
    #expect(
      sums == [
        16_239_371_680_988_892_423,
        14_577_052_590_259_890_091,
        2_622_830_021_747_800_367,
        3_948_321_302_009_472_469,
        1_771_628_480_043_450_054,
      ] as [UInt64])
  }

  @Test
  func whiteStaysWhite() {
    for colour in [[255, 255, 255, 255], [255, 255, 255, 128], [255, 255, 255, 1], [10, 200, 90, 255]] as [[UInt8]] {
      let plain = Picture.plain(colour, width: 50, height: 37)
      #expect(plain.blurred(radius: 4) == plain)
      for size in [1, 7, 33, 49] {
        let small = plain.downscaled(toFit: size)
        #expect(small == .plain(colour, width: small.width, height: small.height), "\(colour) to \(size)")
      }
    }
    let white = Picture.plain([255, 255, 255, 200], width: 3, height: 3)
    #expect(white.grey() == white)
    #expect(white.sepia() == .plain([255, 255, 239, 200], width: 3, height: 3))
  }

  @Test
  func knownColours() {
    func first(_ colour: [UInt8], _ filter: Processing.Filter) -> [UInt8] {
      filter.apply(to: .plain(colour, width: 2, height: 1)).pixel(1, 0)
    }
    #expect(first([0, 0, 0, 255], .sepia) == [0, 0, 0, 255])
    #expect(first([100, 100, 100, 255], .sepia) == [135, 120, 94, 255])
    #expect(first([255, 0, 0, 9], .grey) == [54, 54, 54, 9])
    #expect(first([0, 255, 0, 9], .grey) == [182, 182, 182, 9])
    #expect(first([0, 0, 255, 9], .grey) == [18, 18, 18, 9])
  }

  @Test
  func shrinkingKeepsTheShape() {
    for (width, height, size, expected) in [
      (100, 50, 10, (10, 5)), (50, 100, 10, (5, 10)), (3, 1000, 10, (1, 10)), (7, 5, 7, (7, 5)), (7, 5, 100, (7, 5)),
      (1000, 667, 100, (100, 67)), (1, 1, 1, (1, 1)),
    ] {
      let small = Picture.plain([1, 2, 3, 255], width: width, height: height).downscaled(toFit: size)
      #expect((small.width, small.height) == expected)
    }
  }

  @Test
  func shrinkingKeepsLightAndRamps() {
    let board = Picture.made(width: 80, height: 80) { x, y in (x + y) % 2 == 0 ? [255, 0, 0, 255] : [0, 255, 0, 255] }
    let small = board.downscaled(toFit: 10)
    for place in 0..<100 {
      let pixel = small.pixel(place % 10, place / 10)
      #expect((125...130).contains(pixel[0]) && (125...130).contains(pixel[1]) && pixel[2] == 0)
    }
    let ramp = Picture.made(width: 250, height: 4) { x, _ in [UInt8(x), UInt8(x), 0, 255] }
    let short = ramp.downscaled(toFit: 50)
    for x in 4..<46 { #expect(abs(Int(short.pixel(x, 0)[0]) - (5 * x + 2)) <= 1) }
    // A length for which each pixel counts for less than a 16,384th.
    let long = Picture.made(width: 20_000, height: 1) { x, _ in x < 10_000 ? [0, 0, 0, 255] : [200, 200, 200, 255] }
    #expect((98...102).contains(long.downscaled(toFit: 1).pixels[0]))
  }

  @Test
  func transparentPixelsDoNotColourOthers() {
    let picture = Picture.made(width: 60, height: 60) { x, _ in x < 31 ? [255, 0, 0, 0] : [0, 0, 255, 255] }
    for result in [picture.downscaled(toFit: 13), picture.blurred(radius: 5)] {
      for place in 0..<result.width * result.height {
        let pixel = result.pixel(place % result.width, place / result.width)
        #expect(pixel[3] == 0 || (pixel[0] == 0 && pixel[2] >= 254), "\(pixel)")
      }
    }
  }

  /// Three means, one after another, in the plainest way.
  private func reference(_ values: [Double], radius: Int) -> [Double] {
    var values = values
    for _ in 0..<3 {
      values = values.indices.map { place in
        let sum = (place - radius...place + radius).reduce(0.0) { sum, at in
          var at = at
          while !values.indices.contains(at) { at = at < 0 ? -1 - at : 2 * values.count - 1 - at }
          return sum + values[at]
        }
        return sum / Double(2 * radius + 1)
      }
    }
    return values
  }

  @Test(arguments: [1, 2, 7, 30, 1000])
  func blurIsThreeMeans(radius: Int) {
    var numbers = Seeded(state: 3)
    let line = (0..<23).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    let expected = reference(line.map { Double($0) }, radius: radius)
    let across = Picture.made(width: 23, height: 3) { x, _ in [line[x], 7, 255 - line[x], 255] }
      .blurred(radius: radius)
    let down = Picture.made(width: 3, height: 23) { _, y in [line[y], 7, 255 - line[y], 255] }
      .blurred(radius: radius)
    for place in 0..<23 {
      #expect(abs(Double(across.pixel(place, 1)[0]) - expected[place]) <= 0.51)
      #expect(across.pixel(place, 0) == down.pixel(2, place))
      #expect(across.pixel(place, 0)[1] == 7)
    }
  }

  @Test(arguments: [0, 1, 5, 60])
  func blurKeepsTheMean(radius: Int) {
    let picture = TestPicture.make(seed: 9, width: 71, height: 43)
    let soft = picture.blurred(radius: radius)
    for channel in 0..<4 { #expect(abs(soft.mean(channel) - picture.mean(channel)) < 1) }
    if radius == 0 { #expect(soft == picture) }
  }

  @Test
  func cornersAreRound() {
    let plain = Picture.plain([10, 20, 30, 255], width: 41, height: 30)
    let round = plain.roundedCorners(radius: 10)
    for (x, y) in [(0, 0), (40, 0), (0, 29), (40, 29)] { #expect(round.pixel(x, y) == [10, 20, 30, 0]) }
    for (x, y) in [(20, 0), (0, 15), (20, 15), (10, 0), (3, 3)] { #expect(round.pixel(x, y)[3] == 255) }
    // Smooth, and the area of the arc within a pixel: the four corners lack (4 - pi) * 10 * 10.
    let alphas = Set(stride(from: 3, to: round.byteCount, by: 4).map { round.pixels[$0] })
    #expect(alphas.count > 6)
    let lacking = Double(41 * 30) * (255 - round.mean(3)) / 255
    #expect(abs(lacking - 85.84) < 1)
    for y in 0..<30 {
      for x in 0..<41 {
        #expect(round.pixel(x, y) == round.pixel(40 - x, y) && round.pixel(x, y) == round.pixel(x, 29 - y))
      }
    }
    #expect(plain.roundedCorners(radius: 0) == plain)
    #expect(plain.roundedCorners(radius: 500) == plain.roundedCorners(radius: 15))
    #expect(Picture.plain([1, 2, 3, 100], width: 1, height: 1).roundedCorners(radius: 9).width == 1)
  }
}
