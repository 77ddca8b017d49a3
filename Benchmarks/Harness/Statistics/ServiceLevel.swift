import Glibc

/// The load that a scheduler carries before its tails break: the highest at which 99.9 % of all requests have a
/// slowdown below ten.
///
/// The *slowdown* of a request is the time from its arrival to its end over its service time. A load is the share of
/// the servers' time that the service takes, in percent.
package enum ServiceLevel {
  /// The slowdown that too few requests may exceed.
  package static let slowdown = 10.0
  /// The share of the requests that may exceed it.
  package static let exceptions = 0.001

  /// How many of `count` requests may exceed the slowdown.
  package static func allowed(of count: Int) -> Int { Int(Double(count) * exceptions) }

  /// Whether few enough requests exceed the slowdown.
  package static func holds(_ slowdowns: [Double]) -> Bool {
    slowdowns.count { $0 >= slowdown } <= allowed(of: slowdowns.count)
  }

  /// The loads between which the search looks, in percent, and the ratio of two loads that it takes for equal.
  package static let least = 5.0
  package static let most = 95.0
  private static let resolution = 1.1

  /// The highest load that is carried, within 10 %. The search halves the range of loads in logarithms, so a load that
  /// is not carried is taken to mean that no higher one is.
  /// - Parameter carries: whether a load is carried. It is asked up to seven times. Low loads take long, so the least
  ///   one is asked last.
  /// - Returns: nil when the least load is not carried.
  package static func highestLoad(_ carries: (_ load: Double) throws -> Bool) rethrows -> Double? {
    if try carries(most) { return most }
    var (low, high) = (least, most)
    while high / low > resolution {
      let load = (low * high).squareRoot()
      if try carries(load) { low = load } else { high = load }
    }
    return try low > least || carries(least) ? low : nil
  }
}
