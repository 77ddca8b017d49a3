import TestSupport

/// Changes of an input that keep most of its structure: those that libFuzzer makes too, drawn from a seed.
public struct Mutation {
  private var random: SeededGenerator
  private let tokens: [[UInt8]]

  /// Longer inputs find nothing that shorter ones do not.
  private static let longest = 65_536

  public init(tokens: [String], seed: UInt64) {
    self.tokens = tokens.map { Array($0.utf8) }
    random = SeededGenerator(seed: seed)
  }

  /// One to eight changes of `input`; `other` is what a part may come from.
  public mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var bytes = input
    for _ in 0..<pick(1...8) { change(&bytes, other) }
    return Array(bytes.prefix(Self.longest))
  }

  public mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func change(_ bytes: inout [UInt8], _ other: [UInt8]) {
    switch pick(0...8) {
    case 0: if let place = bytes.indices.randomElement(using: &random) { bytes[place] ^= 1 << UInt8(pick(0...7)) }
    case 1: if let place = bytes.indices.randomElement(using: &random) { bytes[place] = UInt8(pick(0...255)) }
    case 2: bytes.insert(UInt8(pick(0...255)), at: pick(0...bytes.count))
    case 3: bytes.removeSubrange(stretch(bytes))
    case 4: bytes.insert(contentsOf: Array(bytes[stretch(bytes)]), at: pick(0...bytes.count))
    case 5:
      if let token = tokens.randomElement(using: &random) { bytes.insert(contentsOf: token, at: pick(0...bytes.count)) }
    case 6: if let token = tokens.randomElement(using: &random) { bytes.replaceSubrange(stretch(bytes), with: token) }
    case 7: bytes.replaceSubrange(stretch(bytes), with: Array(other[stretch(other)]))
    default: replaceNumber(&bytes)
    }
  }

  /// Mostly short.
  private mutating func stretch(_ bytes: [UInt8]) -> Range<Int> {
    let start = pick(0...bytes.count)
    let length = pick(0...3) == 0 ? pick(0...bytes.count) : pick(0...8)
    return start..<min(bytes.count, start + length)
  }

  private static let numbers = [
    "0", "-0", "-1", "1", "1e308", "-1e308", "1e-320", "9223372036854775807", "-9223372036854775808",
    "18446744073709551616", "0.1", "1e9999", "007", "nan",
  ].map { Array($0.utf8) }

  private mutating func replaceNumber(_ bytes: inout [UInt8]) {
    func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    let from = pick(0...bytes.count)
    guard let start = bytes[from...].firstIndex(where: isDigit) ?? bytes.firstIndex(where: isDigit) else { return }
    let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
    bytes.replaceSubrange(start..<end, with: Self.numbers.randomElement(using: &random) ?? [])
  }
}

extension Reader {
  /// The corpus, and then n mutations of the corpus; the first objection, with the input that it is to.
  public func fuzz(inputs: Int, seed: UInt64) -> (objection: String, input: [UInt8])? {
    let corpus = corpus.map(\.bytes) + [[]]
    for input in corpus { if let objection = objection(to: input) { return (objection, input) } }
    var mutation = Mutation(tokens: tokens, seed: seed)
    var previous: [UInt8] = []
    for _ in 0..<inputs {
      let base = mutation.pick(0...3) == 0 ? previous : corpus[mutation.pick(0...(corpus.count - 1))]
      let input = mutation.mutated(base, with: corpus[mutation.pick(0...(corpus.count - 1))])
      if let objection = objection(to: input) { return (objection, input) }
      previous = input
    }
    return nil
  }
}
