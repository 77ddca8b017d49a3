import HarnessMeasuring
import HarnessWords
import Subjects

/// Batches of operations with a barrier after each (`addBarrierBlock`; Dispatch: `.barrier`). A barrier checks that its
/// batch has run. Every operation checks that the barrier before its own batch has run.
///
/// Timed: adding everything without waiting in between, running it, and the wait.
struct Barrier: Workload {
  let name = BenchmarkName("dependencies", "barrier")
  let summary = "batches of operations with a barrier between them"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.barriers

  func parameterSets() -> [Parameters] { [["batches": "10", "width": "50"]] }
  func extendedParameterSets() -> [Parameters] {
    [["batches": "100", "width": "5"], ["batches": "4", "width": "500"]]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let batches = try setting.integer("batches")
    let width = try setting.integer("width")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: batches * width)
    let phases = BarrierPhases()
    return .rounds(of: batches * (width + 1), flags, on: subject) {
      for batch in 0..<batches {
        for index in batch * width..<(batch + 1) * width {
          let flag = flags.slot(index)
          subject.submit { phases.visit(flag, of: batch) }
        }
        subject.submitBarrier { phases.close(batch, flags, width: width) }
      }
    } verify: {
      try phases.check(batches: batches)
    }
  }
}

/// The number of barriers that have run. Only barriers write the number. The benchmark checks that a barrier runs
/// alone, so the bodies read the number without any protection. The memory lives as long as the process, as that of
/// `RunFlags` does.
struct BarrierPhases: @unchecked Sendable {
  private struct State {
    var closed = 0
    var errors = 0
  }

  private let state: UnsafeMutablePointer<State>

  init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  @inline(__always)
  func visit(_ flag: RunFlag, of batch: Int) {
    if state.pointee.closed != batch { state.pointee.errors += 1 }
    flag.mark()
  }

  func close(_ batch: Int, _ flags: RunFlags, width: Int) {
    let hasAll = (batch * width..<(batch + 1) * width).allSatisfy(flags.hasRun)
    if state.pointee.closed != batch || !hasAll { state.pointee.errors += 1 }
    state.pointee.closed += 1
  }

  /// Throws unless the number of barriers is right and no body ran out of order; then starts over.
  func check(batches: Int) throws {
    let seen = state.pointee
    state.pointee = State()
    guard seen.errors == 0, seen.closed == batches else {
      throw CheckFailed(
        "\(seen.closed) of \(batches) barriers ran, and \(seen.errors) times something ran on the wrong side of one")
    }
  }
}
