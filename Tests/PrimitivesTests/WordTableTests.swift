import Primitives
import TestSupport
import Testing

@Suite struct WordTableTests {
  @Test func `an empty table has nothing, and removing that does nothing`() {
    var table = WordTable(count: 0)
    #expect(table[16] == nil)
    table[16] = nil
    #expect(table.count == 0)
  }

  @Test(arguments: [0, 1, 7, 100]) func `grows beyond what it was made for`(count: Int) {
    var table = WordTable(count: count)
    for key in 1...UInt(1000) { table[key << 4] = key }
    #expect(table.count == 1000)
    for key in 1...UInt(1000) { #expect(table[key << 4] == key) }
    #expect(table[1001 << 4] == nil)
  }

  @Test(arguments: 1...40) func `does what a dictionary does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = WordTable(count: 0)
    var model: [UInt: UInt] = [:]
    // Few keys, so that they collide and fill runs of slots.
    let keys = (0..<Int.random(in: 1...60, using: &random)).map { _ in UInt.random(in: 1...(1 << 40), using: &random) }
    for _ in 0..<2000 {
      guard let key = keys.randomElement(using: &random) else { return }
      let value: UInt? = Bool.random(using: &random) ? UInt.random(in: 1...UInt.max, using: &random) : nil
      table[key] = value
      model[key] = value
      #expect(table.count == model.count)
    }
    for key in keys { #expect(table[key] == model[key]) }
  }
}
