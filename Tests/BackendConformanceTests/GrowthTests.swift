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
    // The least of a few runs: other work on the machine makes a run dearer, never cheaper.
    func least(_ size: Int) throws -> UInt64 {
      try (0..<3).map { _ in try backend.withQueue(workers: 1) { try call.cost($0, size) } }.min() ?? 0
    }
    let single = max(try least(small), 1)
    let eight = try least(small * factor)
    // 64 for a square; a table that doubles, caches and the clock's grain make 8 into less than 20.
    #expect(eight < single * 28 || eight < 3_000_000, "\(single) ns for \(small), \(eight) ns for \(small * factor)")
  }
}
