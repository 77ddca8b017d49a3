import Glibc

/// Student's t distribution, for the width of bootstrap intervals from few blocks.
package enum StudentT {
  /// P(|T| <= t), in closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
  package static func central(_ t: Double, freedom: Int) -> Double {
    let angle = atan(t / Double(freedom).squareRoot())
    let cosine = cos(angle)
    var sum = 0.0
    if freedom.isMultiple(of: 2) {
      var term = 1.0
      for index in stride(from: 0, to: freedom, by: 2) {
        if index > 0 { term *= cosine * cosine * Double(index - 1) / Double(index) }
        sum += term
      }
      return sin(angle) * sum
    }
    var term = cosine
    for index in stride(from: 1, to: freedom, by: 2) {
      if index > 1 { term *= cosine * cosine * Double(index - 1) / Double(index) }
      sum += term
    }
    return 2 / .pi * (angle + sin(angle) * sum)
  }

  /// The t for which |T| is below t with that probability.
  package static func quantile(central probability: Double, freedom: Int) -> Double {
    var low = 0.0
    var high = 1.0
    while central(high, freedom: freedom) < probability { high *= 2 }
    for _ in 0..<100 {
      let middle = (low + high) / 2
      if central(middle, freedom: freedom) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
