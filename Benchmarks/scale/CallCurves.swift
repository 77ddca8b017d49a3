import Glibc
import Growth
import Operations
import Subjects

/// What calls cost at four sizes, and how the cost grows: the slope of a line through the logarithms. 1 means that the
/// cost grows with the size, 2 with its square.
enum CallCurves {
  private static let sizes = [1_500, 6_000, 24_000, 96_000]
  /// Between the slopes 1 of a list and 2 of a square. A sort, and tables that leave the caches, make 1 into 1.2.
  private static let steepest = 1.5
  /// A call that takes less at the greatest size is too short to have a slope: the clock's grain decides.
  private static let shortest: UInt64 = 2_000_000

  /// - Returns: whether no call costs a square.
  static func run() -> Bool {
    let sizeColumns = sizes.map { Scale.column("us at \($0)", 14) }.joined()
    print(Scale.column("backend", 12) + Scale.column("call", 78) + sizeColumns + "slope")
    var steep: [String] = []
    for choice in OwnBackends.choices {
      for call in GrowingCall.all {
        let costs = sizes.map { size in least(of: call, size, on: choice) }
        let slope = slope(costs)
        let isSteep = slope > steepest && costs[sizes.count - 1] > shortest
        if isSteep { steep.append("\(call.name), on \(choice.name)") }
        let times = costs.map { Scale.column(String($0 / 1_000), 14) }.joined()
        let hundredths = Int((slope * 100).rounded())
        print(
          Scale.column(choice.name, 12) + Scale.column(call.name, 78) + times
            + "\(hundredths / 100).\(hundredths % 100 / 10)" + (isSteep ? "  too steep" : ""))
        fflush(nil)
      }
    }
    for name in steep { Scale.complain("\(name): the cost grows with more than the size") }
    return steep.isEmpty
  }

  /// The least of three runs: other work on the machine makes a run dearer, never cheaper.
  private static func least(of call: GrowingCall, _ size: Int, on choice: any BackendChoice.Type) -> UInt64 {
    (0..<3).map { _ in
      let backend: any Backend = choice.makeBackend(workers: 1, fairnessInterval: Fairness.defaultInterval)
      do { return try call.cost(OperationQueue(on: backend), size) } catch {
        Scale.complain("\(call.name): \(error)")
        exit(70)
      }
    }.min() ?? 0
  }

  /// Least squares through (log size, log cost).
  private static func slope(_ costs: [UInt64]) -> Double {
    let points = zip(sizes, costs).map { (x: log(Double($0)), y: log(Double(max($1, 1)))) }
    let count = Double(points.count)
    let (meanX, meanY) = (points.map(\.x).reduce(0, +) / count, points.map(\.y).reduce(0, +) / count)
    let across = points.map { ($0.x - meanX) * ($0.y - meanY) }.reduce(0, +)
    return max(0, across / points.map { ($0.x - meanX) * ($0.x - meanX) }.reduce(0, +))
  }
}
