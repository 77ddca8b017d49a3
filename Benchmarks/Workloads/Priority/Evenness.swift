/// How evenly several submitters were served.
struct Evenness {
  /// Jain, Chiu, Hawe 1984: (sum x)^2 / (n * sum x^2). 1 when all got the same, 1/n when one got all.
  let jain: Double
  /// The smallest share of the whole: 1/n when all got the same.
  let minShare: Double

  /// Nil when no submitter got anything.
  init?(_ served: [Int]) {
    let sum = served.reduce(0.0) { $0 + Double($1) }
    guard sum > 0, let least = served.min() else { return nil }
    let squares = served.reduce(0.0) { $0 + Double($1) * Double($1) }
    jain = sum * sum / (Double(served.count) * squares)
    minShare = Double(least) / sum
  }
}
