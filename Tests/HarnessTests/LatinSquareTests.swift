import Testing

@testable import HarnessStatistics

struct LatinSquareTests {
  @Test(arguments: 1...7, [1, 2, 99] as [UInt64])
  func everySubjectOnceInEachPlace(size: Int, seed: UInt64) {
    let square = LatinSquare(size: size, seed: seed)
    for first in [0, size, 3 * size] {
      let rows = (first..<first + size).map(square.order)
      for row in rows { #expect(row.sorted() == Array(0..<size)) }
      for place in 0..<size { #expect(Set(rows.map { $0[place] }).count == size) }
    }
  }

  @Test func theSeedDecides() {
    let orders = { (seed: UInt64) in (0..<40).map { LatinSquare(size: 5, seed: seed).order(block: $0) } }
    #expect(orders(7) == orders(7))
    #expect(orders(7) != orders(8))
  }

  @Test func ofNothing() { #expect(LatinSquare(size: 0, seed: 1).order(block: 3).isEmpty) }
}

struct SeededGeneratorTests {
  /// The reference implementation's first outputs for seed 1234567 (Vigna, splitmix64.c).
  @Test func splitMix64() {
    var generator = SeededGenerator(seed: 1_234_567)
    let expected: [UInt64] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    #expect((0..<3).map { _ in generator.next() } == expected)
  }

  @Test func uniformIsInRangeAndSpread() {
    let values = (0..<10_000).map { SeededGenerator.uniform(1, UInt64($0)) }
    #expect(values.allSatisfy { 0..<1 ~= $0 })
    let mean = values.reduce(0, +) / 10_000
    #expect(abs(mean - 0.5) < 0.02)
    #expect(values[17] == SeededGenerator.uniform(1, 17))
  }
}
