import TestSupport

extension SeededGenerator {
  /// A generator of its own for one of several threads, so that what one draws does not depend on what another does.
  public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

  /// True in `percent` of 100 draws.
  public mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  public mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
