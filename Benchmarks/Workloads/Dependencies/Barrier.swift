import Harness
import Subjects

/// Batches of operations with a barrier after each (`addBarrierBlock`; Dispatch: `.barrier`). A barrier checks that its
/// batch has run, every operation that the barrier before its own batch has.
///
/// Timed: adding everything without waiting in between, running it, and the wait.
struct Barrier: Workload {
  let name = BenchmarkName("dependencies", "barrier")
  let summary = "batches of operations with a barrier between them"
  let metrics = Metric.cost + Metric.allocation
  let requirement = Capability.closures
  let repeats = RepeatPolicy.calibrated()
  let countsAllocations = true

  func suits(_ subject: SubjectInfo) -> Bool { subject.hasBarriers }

  func parameterSets() -> [Parameters] { [["batches": "10", "width": "50"]] }
  func extendedParameterSets() -> [Parameters] {
    [["batches": "100", "width": "5"], ["batches": "4", "width": "500"]]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    guard S.hasBarriers else { throw CheckFailed("\(name) means nothing on \(S.name)") }
    let batches = try setting.integer("batches")
    let width = try setting.integer("width")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: batches * width)
    let phases = BarrierPhases(flags, width: width)
    return .rounds(of: batches * (width + 1), flags, on: subject) {
      for batch in 0..<batches {
        for index in batch * width..<(batch + 1) * width { subject.submit { phases.visit(index, of: batch) } }
        subject.submitBarrier { phases.close(batch) }
      }
    } verify: {
      try phases.check(batches: batches)
    }
  }
}

/// How many barriers have run. Barriers alone write it, and a barrier runs alone, which is what is being checked: the
/// bodies read it without any protection of their own.
final class BarrierPhases: @unchecked Sendable {
  private let flags: RunFlags
  private let width: Int
  private var closed = 0
  private var errors = 0

  init(_ flags: RunFlags, width: Int) {
    self.flags = flags
    self.width = width
  }

  @inline(__always)
  func visit(_ index: Int, of batch: Int) {
    if closed != batch { errors += 1 }
    flags.slot(index).mark()
  }

  func close(_ batch: Int) {
    let hasAll = (batch * width..<(batch + 1) * width).allSatisfy(flags.hasRun)
    if closed != batch || !hasAll { errors += 1 }
    closed += 1
  }

  func check(batches: Int) throws {
    guard errors == 0, closed == batches else {
      throw CheckFailed(
        "\(closed) of \(batches) barriers ran, and \(errors) times something ran on the wrong side of one")
    }
    closed = 0
  }
}
