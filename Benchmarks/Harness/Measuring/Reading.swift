/// One number of one metric, with the number of operations (or samples) that the number rests on.
package struct Reading: Hashable, Sendable {
  package let metric: Metric
  package let value: Double
  package let count: Int
  /// The parameters of the number beyond the cell's own, such as a priority level.
  package let detail: Parameters

  package init(_ metric: Metric, _ value: Double, count: Int, detail: Parameters = [:]) {
    self.metric = metric
    self.value = value
    self.count = count
    self.detail = detail
  }
}
