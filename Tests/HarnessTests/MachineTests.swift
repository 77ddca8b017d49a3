import Foundation
import Testing

@testable import HarnessMeasuring

/// What looks at the machine.
struct MachineTests {
  @Test func aPeakIsPositive() {
    let peak = MachinePeak.measure(threads: 2, spin: Spin.calibrated())
    #expect(peak > 0 && peak.isFinite)
  }

  @Test(arguments: [0, 1, 3])
  func busyThreadsAreBusyAndEnd(count: Int) throws {
    struct Stop: Error {}
    let before = Threads.all()
    var busy: Set<Int32> = []
    #expect(throws: Stop.self) {
      try BusyThreads.beside(count) {
        // Other tests start and end threads too, so only the threads that use CPU time count.
        while busy.count < count { busy.formUnion(Threads.all().subtracting(before).filter { cpuTime($0) > 0 }) }
        throw Stop()
      }
    }
    if count == 0 { #expect(busy.isEmpty) }
    #expect(BusyThreads.beside(count) { 7 } == 7)
  }

  /// In nanoseconds; zero when the thread has ended.
  private func cpuTime(_ thread: Int32) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)) ?? "0"
    return text.split(separator: " ").first.flatMap { Int($0) } ?? 0
  }
}
