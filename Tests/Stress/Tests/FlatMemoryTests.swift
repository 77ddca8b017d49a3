import StressEngine
import TestSupport
import Testing

/// The rule of the soak: what is flat passes, and what grows does not.
@Suite struct FlatMemoryTests {
  private static let megabyte = 1_048_576

  private func objection(_ megabytes: [Int]) -> String? { FlatMemory.objection(megabytes.map { $0 * Self.megabyte }) }

  @Test func `flat memory passes, whatever the first third was`() {
    #expect(objection([Int](repeating: 40, count: 9)) == nil)
    #expect(objection([5, 10, 20, 40, 41, 40, 40, 42, 40]) == nil)
    #expect(objection([400, 300, 200, 40, 41, 40, 40, 42, 40]) == nil)
  }

  @Test func `memory may grow by 16 MB where that is more than a tenth`() {
    #expect(objection([40, 40, 40, 40, 56, 56]) == nil)
    #expect(
      objection([40, 40, 40, 40, 57, 57])
        == "memory grows: 57.0 MB in the last third, 40.0 MB in the second; at most 56.0 MB would be flat")
  }

  @Test func `memory may grow by a tenth where that is more than 16 MB`() {
    #expect(objection([1_000, 1_000, 1_000, 1_000, 1_100, 1_100]) == nil)
    #expect(objection([1_000, 1_000, 1_000, 1_000, 1_101, 1_101])?.hasPrefix("memory grows: 1101.0 MB") == true)
  }

  @Test func `steady growth is found, one high sample is not growth`() {
    #expect(objection((0..<90).map { 40 + $0 }) != nil)
    #expect(objection((0..<90).map { $0 == 89 ? 4_000 : 40 }) == nil)
  }

  @Test func `too few samples say nothing, and that is no pass`() {
    #expect(objection([40, 40, 40, 40, 40])?.hasPrefix("5 samples of memory are too few") == true)
    #expect(objection([]) != nil)
  }

  @Test func `the footprint counts threads and memory`() throws {
    let before = ProcessFootprint.now
    #expect(before.residentBytes > 1_000_000 && before.threads >= 1)
    let bytes = 64 * Self.megabyte
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4_096)
    defer { block.deallocate() }
    for offset in stride(from: 0, to: bytes, by: 4_096) {
      block.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
    }
    // Other tests run meanwhile, but none frees so much.
    #expect(ProcessFootprint.now.residentBytes > before.residentBytes + bytes / 2)
  }
}
