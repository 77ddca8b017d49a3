import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// As `external-add`, in a queue that runs at most `max` operations at a time. The bodies count how many of them run at
/// the same time; the count may never exceed the limit.
struct Limited: Workload {
  let name = BenchmarkName("overhead", "limited")
  let summary = "one outside thread adds empty operations to a queue with maxConcurrentOperationCount"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "10000", "max": "1"]] }
  func extendedParameterSets() -> [Parameters] { [["ops": "10000", "max": "2"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let limit = max(1, try setting.integer("max"))
    let subject = S(workers: setting.workers)
    subject.setLimit(limit)
    let flags = RunFlags(count: operations)
    let gauge = ConcurrencyGauge()
    return .rounds(of: operations, flags, on: subject) {
      for index in 0..<operations {
        let flag = flags.slot(index)
        subject.submit {
          gauge.enter(limit: limit)
          flag.mark()
          gauge.leave()
        }
      }
    } verify: {
      try gauge.check(limit: limit)
    }
  }
}

/// The number of bodies that run at the same time. All bodies share this one word, but only as many bodies as the limit
/// allows access it at once. The memory lives as long as the process, so that bodies need not count references to it.
struct ConcurrencyGauge: @unchecked Sendable {
  // Both words are atomic.
  private let inside: UnsafeMutablePointer<Atomic<Int>>
  private let most: UnsafeMutablePointer<Atomic<Int>>

  init() {
    inside = .allocate(capacity: 1)
    inside.initialize(to: Atomic(0))
    most = .allocate(capacity: 1)
    most.initialize(to: Atomic(0))
  }

  @inline(__always)
  func enter(limit: Int) {
    let now = inside.pointee.wrappingAdd(1, ordering: .relaxed).newValue
    if now > limit { most.pointee.max(now, ordering: .relaxed) }
  }

  @inline(__always)
  func leave() { inside.pointee.wrappingSubtract(1, ordering: .relaxed) }

  func check(limit: Int) throws {
    let together = most.pointee.exchange(0, ordering: .relaxed)
    guard together <= limit else {
      throw CheckFailed("\(together) operations ran at once in a queue limited to \(limit)")
    }
  }
}
