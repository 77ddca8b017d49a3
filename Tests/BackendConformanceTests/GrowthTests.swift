import GrowingCalls
import Operations
import TestSupport
import Testing

extension GrowingCall: CustomTestStringConvertible {
  public var testDescription: String { name }
}

/// What calls cost when there is eight times as much of everything: about eight times as much, and not 64 times. The
/// cost is CPU time of the calling thread, and only growth is judged, with much room.
@Suite("Growth of cost")
struct GrowthTests {
  @Test(
    "rows 16, 19, 26, 41 and 47: eight times as much costs no square", arguments: GrowingCall.all,
    [TestBackend.stealing, .threadPool])
  func grows(call: GrowingCall, backend: TestBackend) throws {
    let (small, factor) = (2_000, 8)
    func cost(_ size: Int) throws -> UInt64 { try backend.withQueue(workers: 1) { try call.cost($0, size) } }
    // The least of a few runs: other work on the machine makes a run dearer, never cheaper.
    let single = max(try (0..<3).map { _ in try cost(small) }.min() ?? 0, 1)
    // 64 for a square; a table that doubles, caches and the clock's grain make 8 into less than 20.
    let most = max(single * 28, 3_000_000)
    var eight = try cost(small * factor)
    for _ in 0..<2 where eight >= most { eight = min(eight, try cost(small * factor)) }
    #expect(eight < most, "\(single) ns for \(small), \(eight) ns for \(small * factor)")
  }
}
