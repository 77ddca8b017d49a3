/// The choices that real threads leave open, as a sequence of small numbers.
///
/// A pool asks for a choice when several events are due at the same instant, when several threads want the same job,
/// and when a strategy wants a random number. The sequence of the choices alone determines a schedule. So a schedule
/// can be recorded, replayed, and shortened. Choice 0 is the *plain* one: the oldest event, the first in a list, no
/// lost race.
///
/// ```swift
/// var choices = VirtualChoices(seed: 7, records: true)
/// let one = choices.pick(below: 3)
/// var again = VirtualChoices(replaying: choices.taken)
/// assert(again.pick(below: 3) == one)
/// ```
package struct VirtualChoices: Sendable {
  /// The choices that were recorded, in order; empty when nothing is recorded.
  package private(set) var taken: [Int] = []
  private let records: Bool
  private let given: [Int]
  private var used = 0
  /// The state of SplitMix64; nil when every choice behind the given ones is 0.
  private var state: UInt64?

  /// Choices from a seed.
  /// - Parameter records: whether `taken` keeps the choices. It takes eight bytes for each choice.
  package init(seed: UInt64, records: Bool = false) {
    self.init(replaying: [], seed: seed, records: records)
  }

  /// The given choices, then those of a seed.
  /// - Parameters:
  ///   - replaying: the first choices. A number that is too high is taken modulo the number of possibilities.
  ///   - seed: for the choices behind these; nil for the plain ones.
  package init(replaying given: [Int], seed: UInt64? = nil, records: Bool = false) {
    self.given = given
    state = seed
    self.records = records
  }

  /// A number from 0 to `bound - 1`; O(1). With one possibility there is no choice: 0 is returned, and nothing is used
  /// or recorded.
  package mutating func pick(below bound: Int) -> Int {
    if bound <= 1 { return 0 }
    let choice = next(below: bound)
    if records { taken.append(choice) }
    return choice
  }

  private mutating func next(below bound: Int) -> Int {
    if used < given.count {
      used += 1
      return Int(given[used - 1].magnitude % UInt(bound))
    }
    guard var x = state else { return 0 }
    x &+= 0x9e37_79b9_7f4a_7c15
    state = x
    x = (x ^ (x >> 30)) &* 0xbf58_476d_1ce4_e5b9
    x = (x ^ (x >> 27)) &* 0x94d0_49bb_1331_11eb
    // The high half of the product: as even as the modulus, without a division.
    return Int((x ^ (x >> 31)).multipliedFullWidth(by: UInt64(bound)).high)
  }
}
