import CPlatform
import Testing

@testable import OperationCore

@Suite struct NiceValueTests {
  @Test func `the middle keeps the nice value`() {
    for base in Int32(-20)...19 { #expect(ThreadPriority.nice(for: 0.5, base: base) == base) }
  }

  @Test(arguments: [(1.0, -10), (0.75, -5), (0.55, -1), (0.45, 1), (0.25, 5), (0.0, 10)] as [(Double, Int32)])
  func `more priority is a lower nice value, ten at most`(priority: Double, change: Int32) {
    #expect(ThreadPriority.nice(for: priority, base: 0) == change)
    #expect(ThreadPriority.nice(for: priority, base: 3) == 3 + change)
  }

  @Test func `it stays within what the system knows`() {
    #expect(ThreadPriority.nice(for: 1, base: -15) == -20)
    #expect(ThreadPriority.nice(for: 0, base: 15) == 19)
  }

  @Test func `it never grows with the priority`() {
    let values = (0...100).map { ThreadPriority.nice(for: Double($0) / 100, base: 0) }
    #expect(zip(values, values.dropFirst()).allSatisfy { $0 >= $1 })
  }

  @Test func `the body runs once, and the thread is as it was afterwards`() {
    let before = cplatform_thread_nice()
    var runs = 0
    var inside: Int32 = .max
    ThreadPriority.run(at: 0) {
      runs += 1
      inside = cplatform_thread_nice()
    }
    #expect(runs == 1)
    #expect(inside == (cplatform_may_restore_nice() ? min(19, before + 10) : before))
    #expect(cplatform_thread_nice() == before)
  }

  @Test func `a priority outside of 0 to 1 is brought inside`() {
    let operation = Operation()
    #expect(operation.threadPriority == 0.5)
    for (value, expected) in [(-1.0, 0.0), (2.0, 1.0), (0.25, 0.25), (.nan, 0.0)] {
      operation.threadPriority = value
      #expect(operation.threadPriority == expected)
    }
  }
}
