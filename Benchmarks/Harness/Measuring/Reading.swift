/// One number of one metric, with how many operations (or samples) stand behind it.
package struct Reading: Hashable, Sendable {
  package let metric: Metric
  package let value: Double
  package let count: Int
  /// What the number is about beyond the cell's own parameters, such as a priority level.
  package let detail: Parameters

  package init(_ metric: Metric, _ value: Double, count: Int, detail: Parameters = [:]) {
    self.metric = metric
    self.value = value
    self.count = count
    self.detail = detail
  }
}
