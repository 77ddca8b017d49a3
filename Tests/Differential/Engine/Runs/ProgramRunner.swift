import Operations
import TestSupport

/// Runs programs one after the other on a thread of its own, on backends that they share. A program that hangs costs
/// that thread and those backends, and is reported.
struct ProgramRunner {
  let backend: TestBackend
  let settings: DifferentialSettings

  struct Outcome: Sendable {
    var programs = 0
    var operations = 0
    var ran = 0
    var statements = 0
    var slowestSettle = 0.0
    /// The last program, when it failed.
    var failure: (program: Program, failure: ProgramFailure)?
  }

  private struct Progress: Sendable {
    var outcome = Outcome()
    var current: Program?
    var isOver = false
  }

  init(_ backend: TestBackend, _ settings: DifferentialSettings) {
    self.backend = backend
    self.settings = settings
  }

  /// Up to the first failure.
  func run(seconds: Double, count: Int, _ program: @escaping @Sendable (Int) -> Program) -> Outcome {
    let progress = Monitor(Progress())
    let position = Monitor("")
    let (backend, settings) = (backend, settings)
    startThread {
      let end = ContinuousClock.now + .seconds(min(seconds, 1e9))
      let helper = Helper()
      do {
        try BackendPool.with(backend) { pool in
          for index in 0..<count where ContinuousClock.now < end {
            let program = program(index)
            progress.with {
              $0.current = program
              $0.outcome.programs += 1
            }
            let result = Self.runOne(program, backend, settings, pool, helper, position)
            progress.with { $0.outcome.add(result, program) }
            if let failure = result.failure { throw failure }
          }
        }
      } catch {
        progress.with {
          let failure = error as? ProgramFailure ?? ProgramFailure(category: "hang", text: "\(error)")
          if let program = $0.current { $0.outcome.failure = (program, failure) }
        }
      }
      helper.close()
      progress.with { $0.isOver = true }
    }
    return supervise(progress, position)
  }

  /// The controlling thread may hang inside a call.
  private func supervise(_ progress: Monitor<Progress>, _ position: Monitor<String>) -> Outcome {
    while true {
      let before = progress.value.outcome.programs
      let place = position.value
      let patience = settings.patience * 1.5 + 1
      if progress.wait(seconds: patience, until: { $0.isOver }) { return progress.value.outcome }
      var outcome = progress.value.outcome
      guard outcome.programs == before, position.value == place, outcome.programs > 0 else { continue }
      if let program = progress.value.current {
        outcome.failure = (program, ProgramFailure(category: "hang", text: "the controlling thread hangs in \(place)"))
      }
      return outcome
    }
  }

  struct Result {
    var failure: ProgramFailure?
    var ran = 0
    var slowestSettle = 0.0
  }

  private static func runOne(
    _ program: Program, _ backend: TestBackend, _ settings: DifferentialSettings, _ pool: BackendPool, _ helper: Helper,
    _ position: Monitor<String>
  ) -> Result {
    let isOrdered = backend.isOrdered
    let execution = Execution(
      program, features: settings.features, isOrdered: isOrdered, backends: pool.backends(for: program),
      helper: helper, patience: settings.patience, position: position)
    var result = Result()
    do { try execution.run() } catch {
      result.failure = error as? ProgramFailure ?? ProgramFailure(category: "error", text: "\(error)")
    }
    result.ran = execution.model.operations.count { $0.began != nil }
    result.slowestSettle = execution.slowestSettle
    if result.failure == nil, execution.slowestSettle > settings.slowLimit {
      let time = Int(execution.slowestSettle * 1_000)
      result.failure = ProgramFailure(category: "slow", text: "came to rest only after \(time) ms")
    }
    if result.failure != nil {
      result.failure?.journal = execution.journal.all.map { "\($0)" }
      // Bodies that still wait for a gate let their threads go.
      for gate in execution.state.gates { gate.open() }
    }
    return result
  }
}

extension ProgramRunner.Outcome {
  mutating func add(_ result: ProgramRunner.Result, _ program: Program) {
    operations += program.operations.count
    statements += program.statements.count
    ran += result.ran
    slowestSettle = max(slowestSettle, result.slowestSettle)
  }
}
