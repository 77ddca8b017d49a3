/// What one arm has on a line.
package struct SummaryCell: Sendable {
  package let estimate: Estimate
  /// To the reference, from the blocks in which both were measured.
  package let ratio: Estimate?
  /// The logarithms of that ratio, by block.
  package let logRatios: [Int: Double]
}
