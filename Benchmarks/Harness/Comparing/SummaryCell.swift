/// The numbers of one arm on a line.
package struct SummaryCell: Sendable {
  package let estimate: Estimate
  /// The ratio to the reference, from the blocks in which both were measured.
  package let ratio: Estimate?
  /// The median of each process, by block.
  package let processes: [Int: Double]
}
