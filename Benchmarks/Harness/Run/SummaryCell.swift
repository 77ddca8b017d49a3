/// The numbers of one arm on a line.
package struct SummaryCell: Sendable {
  package let estimate: Estimate
  /// The ratio to the reference, from the blocks in which both were measured.
  package let ratio: Estimate?
  /// The logarithms of the ratio, by block.
  package let logRatios: [Int: Double]
}
