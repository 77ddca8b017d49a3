import Synchronization

/// How often each resample of a bootstrap draws each place. All series of a mean share the draws, and so do all means
/// with as many places.
struct Resamples: Sendable {
  private let places: Int
  /// The counts of a resample stand beside one another.
  private let counts: [UInt16]

  private init(places: Int, count: Int, seed: UInt64) {
    self.places = places
    var random = SeededGenerator(seed: seed, purpose: "bootstrap")
    var counts = [UInt16](repeating: 0, count: places * count)
    for resample in 0..<count {
      for _ in 0..<places { counts[resample * places + Int.random(in: 0..<places, using: &random)] += 1 }
    }
    self.counts = counts
  }

  private struct Key: Hashable {
    let places: Int
    let count: Int
    let seed: UInt64
  }

  /// A report has hundreds of means, and most have the same number of blocks.
  private static let known = Mutex<[Key: Resamples]>([:])
  private static let mostKnown = 32

  static func of(blocks: Int, count: Int, seed: UInt64) -> Resamples {
    let key = Key(places: blocks, count: count, seed: seed)
    if let resamples = known.withLock({ $0[key] }) { return resamples }
    let resamples = Resamples(places: blocks, count: count, seed: seed)
    known.withLock { known in
      if known.count >= mostKnown { known.removeAll() }
      known[key] = resamples
    }
    return resamples
  }

  /// Adds the weighted median of each resample of the values to a sum.
  /// - Parameters:
  ///   - values: one for each place; NaN where a place has no value.
  ///   - otherwise: the median of a resample in which no place has a value.
  func addMedians(of values: [Double], otherwise: Double, weight: Double, to sums: inout [Double]) {
    let order = values.indices.filter { !values[$0].isNaN }.sorted { values[$0] < values[$1] }
    let sorted = order.map { values[$0] }
    let isWhole = order.count == places
    counts.withUnsafeBufferPointer { counts in
      for resample in sums.indices {
        let first = resample * places
        var drawn = places
        if !isWhole {
          drawn = 0
          for place in order { drawn += Int(counts[first + place]) }
        }
        guard drawn > 0 else {
          sums[resample] += weight * otherwise
          continue
        }
        // The values in the middle: the same one for an odd number.
        let (lower, upper) = ((drawn - 1) / 2, drawn / 2)
        var (passed, index, low) = (0, 0, Double.nan)
        while true {
          passed += Int(counts[first + order[index]])
          if low.isNaN, passed > lower { low = sorted[index] }
          if passed > upper { break }
          index += 1
        }
        sums[resample] += weight * ((low + sorted[index]) / 2)
      }
    }
  }
}
