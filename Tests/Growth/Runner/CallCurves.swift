import Glibc
import GrowingCalls
import Operations
import TestSupport

/// What calls cost at four sizes, and how the cost grows: the slope of a line through the logarithms. 1 means that the
/// cost grows with the size, 2 with its square.
enum CallCurves {
  private static let sizes = [1_500, 6_000, 24_000, 96_000]
  /// Between the slopes 1 of a list and 2 of a square. A sort, and tables that leave the caches, make 1 into 1.2.
  private static let steepest = 1.5
  /// A call that takes less at the greatest size is too short to have a slope: the clock's grain decides.
  private static let shortest: UInt64 = 2_000_000

  /// - Returns: the calls that cost a square.
  static func run(on backends: [TestBackend]) throws -> [String] {
    let sizeColumns = sizes.map { column("us at \($0)", 14) }.joined()
    print(column("backend", 12) + column("call", 78) + sizeColumns + "slope")
    var steep: [String] = []
    for backend in backends {
      for call in GrowingCall.all {
        let costs = try sizes.map { size in try least(of: call, size, on: backend) }
        let slope = slope(costs)
        let isSteep = slope > steepest && costs[sizes.count - 1] > shortest
        if isSteep { steep.append("\(call.name), on \(backend)") }
        let times = costs.map { column(String($0 / 1_000), 14) }.joined()
        let tenths = Int((slope * 10).rounded())
        print(
          column(backend.name, 12) + column(call.name, 78) + times + "\(tenths / 10).\(tenths % 10)"
            + (isSteep ? "  too steep" : ""))
        fflush(nil)
      }
    }
    return steep
  }

  private static func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// The least of three runs: other work on the machine makes a run dearer, never cheaper.
  private static func least(of call: GrowingCall, _ size: Int, on backend: TestBackend) throws -> UInt64 {
    try (0..<3).map { _ in try backend.withQueue(workers: 1) { try call.cost($0, size) } }.min() ?? 0
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
