import HarnessStatistics

/// The dependence patterns of Task Bench (Slaughter et al., SC'20): the points of step t-1 that the task (t, i) reads.
enum GraphPattern: String, CaseIterable, Sendable {
  case trivial
  case noComm = "no_comm"
  case stencil1D = "stencil_1d"
  case stencil1DPeriodic = "stencil_1d_periodic"
  case sweep, tree, fft
  case allToAll = "all_to_all"
  case nearest, spread
  case randomNearest = "random_nearest"

  /// Whether the number of points that a task reads is a parameter.
  var hasRadix: Bool { self == .nearest || self == .spread || self == .randomNearest }
}

/// A pattern with its sizes. Gives the inputs of one task at a time.
struct PatternShape: Sendable {
  let pattern: GraphPattern
  let width: Int
  let steps: Int
  /// The number of points that `nearest`, `spread` and `random_nearest` read.
  let radix: Int
  /// The number of steps after which `spread` and `random_nearest` choose the same points again.
  var period = 3
  /// The share of its window that `random_nearest` keeps.
  var fraction = 0.25
  var seed: UInt64 = 0

  /// The points of step `t` that exist.
  func active(_ t: Int) -> Range<Int> {
    switch pattern {
    case .sweep:
      let offset = max(0, t + width - steps)
      let count = min(width, t + 1, steps - t)
      return offset..<offset + max(0, count)
    case .tree: return 0..<(t >= Int.bitWidth - 2 ? width : min(width, 1 << t))
    default: return 0..<width
    }
  }

  /// The points of step t-1 on which (t, i) depends, in ascending order, limited to the points that exist in step t-1.
  func dependencies(_ t: Int, _ i: Int) -> [Int] {
    guard t > 0 else { return [] }
    let existing = active(t - 1)
    return Set(points(t, i)).filter(existing.contains).sorted()
  }

  private func points(_ t: Int, _ i: Int) -> [Int] {
    switch pattern {
    case .trivial: return []
    case .noComm: return [i]
    case .stencil1D: return Array(max(0, i - 1)...min(i + 1, width - 1))
    case .stencil1DPeriodic: return [(i + width - 1) % width, i, (i + 1) % width]
    case .sweep: return Array(max(0, i - 1)...i)
    case .tree: return [i / 2]
    case .fft:
      let dimensions = ceilingLog2(width)
      guard dimensions > 0 else { return [i] }
      let distance = 1 << ((t + dimensions - 1) % dimensions)
      return [i - distance, i, i + distance]
    case .allToAll: return Array(0..<width)
    case .nearest: return nearest(i)
    case .spread:
      let set = t % period
      return (0..<radix).map { k in (i + k * width / radix + (k > 0 ? set : 0)) % width }
    case .randomNearest:
      let set = UInt64(t % period)
      return nearest(i).filter { j in
        j == i || SeededGenerator.uniform(seed, UInt64(radix), set, UInt64(j), UInt64(i)) < fraction
      }
    }
  }

  private func nearest(_ i: Int) -> [Int] {
    let first = max(0, i - radix / 2)
    let last = min(i + (radix - 1) / 2, width - 1)
    return radix > 0 ? Array(first...last) : []
  }

  private func ceilingLog2(_ value: Int) -> Int { value <= 1 ? 0 : Int.bitWidth - (value - 1).leadingZeroBitCount }

  /// The tasks of all steps in order. `imbalance` varies the work of each task: `(1 + (U - 0.5) * imbalance)` of
  /// `work`, with U from the seed.
  func graph(work: Double, imbalance: Double) -> TaskGraph {
    var inputs: [[Int]] = []
    var nanoseconds: [Double] = []
    var previous: [Int: Int] = [:]
    for t in 0..<steps {
      var current: [Int: Int] = [:]
      for i in active(t) {
        current[i] = inputs.count
        inputs.append(dependencies(t, i).map { previous[$0]! })
        let uniform = SeededGenerator.uniform(seed, UInt64(t), UInt64(i))
        nanoseconds.append(work * (1 + (uniform - 0.5) * imbalance))
      }
      previous = current
    }
    return TaskGraph(inputs: inputs, nanoseconds: nanoseconds)
  }
}
