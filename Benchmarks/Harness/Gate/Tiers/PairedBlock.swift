/// One block of one measure: the head against the base, and the base again against the base.
///
/// An effect is the logarithm of a ratio, or for counts near zero a difference (`GateScale`). A positive effect is
/// worse.
package struct PairedBlock: Hashable, Sendable {
  package let effect: Double
  /// The null control: the effect of the same comparison between two equals.
  package let null: Double
  /// Whether the machine was disturbed during the block, so that the block does not count.
  package let isExcluded: Bool

  package init(effect: Double, null: Double, isExcluded: Bool = false) {
    (self.effect, self.null, self.isExcluded) = (effect, null, isExcluded)
  }
}
