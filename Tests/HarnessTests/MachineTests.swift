import Foundation
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords

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

  @Test func busyProcessesComeAndGoAndEnd() throws {
    var crowd: BusyProcesses? = try BusyProcesses(2, seed: 1)
    let processes = crowd!.identifiers
    #expect(processes.count == 2)
    // They sleep before their time, behind it, and between two turns.
    for window in [1..<2, UInt64.max - 1..<UInt64.max] {
      crowd!.begin(window)
      usleep(50_000)
      #expect(try crowd!.end() <= 2)
    }
    let before = processes.map(cpuTime(ofProcess:))
    for _ in 0..<2 {
      let start = processes.map(cpuTime(ofProcess:))
      crowd!.begin()
      while !zip(processes, start).allSatisfy({ cpuTime(ofProcess: $0) > $1 + 5_000_000 }) { usleep(1_000) }
      let wanted = try crowd!.end()
      #expect(wanted > 0)
    }
    usleep(20_000)
    let rest = processes.map(cpuTime(ofProcess:))
    usleep(100_000)
    // A process that slept may have looked at its word.
    for (process, (now, first)) in zip(processes, zip(rest, before)) {
      #expect(cpuTime(ofProcess: process) - now < 5_000_000 && now > first)
    }
    crowd = nil
    #expect(processes.allSatisfy { kill($0, 0) == -1 && errno == ESRCH })
  }

  @Test func aCrowdOfWhichAProcessDiedIsRefused() throws {
    let crowd = try BusyProcesses(2, seed: 1)
    crowd.begin()
    kill(crowd.identifiers[1], SIGKILL)
    // The kernel shows a process that has ended until its status is collected.
    while !(SystemFile.read("/proc/\(crowd.identifiers[1])/stat") ?? ") Z").contains(") Z") { usleep(1_000) }
    #expect(
      throws: CheckFailed("a process of the crowd, which was to keep a CPU busy, was killed by signal 9")
    ) { try crowd.end() }
  }

  @Test func staysAreCounted() {
    #expect(BusyProcesses.busy([10, 5, 3, 2], within: 0) == 0)
    #expect(BusyProcesses.busy([10, 5, 3, 2], within: 12) == 10)
    #expect(BusyProcesses.busy([10, 5, 3, 2], within: 16) == 11)
    #expect(BusyProcesses.busy([10, 5, 3, 2], within: 45) == 31)
  }

  private func cpuTime(ofProcess process: pid_t) -> Int {
    SystemFile.read("/proc/\(process)/schedstat")?.split(separator: " ").first.flatMap { Int($0) } ?? 0
  }

  /// In nanoseconds; zero when the thread has ended.
  private func cpuTime(_ thread: Int32) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)) ?? "0"
    return text.split(separator: " ").first.flatMap { Int($0) } ?? 0
  }
}
