/// One block of one measure: the head against the base, and the base again against the base.
///
/// An effect is the logarithm of a ratio, or for counts near zero a difference (`GateScale`). Positive is worse.
package struct PairedBlock: Hashable, Sendable {
  package let effect: Double
  /// The null control: what the same comparison gives for two equals.
  package let null: Double
  /// The machine was disturbed meanwhile: it does not count.
  package let isExcluded: Bool

  package init(effect: Double, null: Double, isExcluded: Bool = false) {
    self.effect = effect
    self.null = null
    self.isExcluded = isExcluded
  }
}
