/// One comparison of one benchmark: the logarithm of the ratio in each block in which both were measured.
package struct RatioSeries: Sendable {
  /// Series with the same name share one vote, so that a benchmark with many parameters does not outweigh the others.
  package let benchmark: String
  package let logarithms: [Int: Double]

  package init(benchmark: String, logarithms: [Int: Double]) {
    self.benchmark = benchmark
    self.logarithms = logarithms
  }
}
