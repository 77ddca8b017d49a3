import DeterministicOperations
import OperationBackends
import Scheduling
import TestSupport
import VirtualScheduling

/// A program, and the choices that decide its order on the deterministic backend. Both together make the same run
/// again.
public struct Schedule: Equatable, Sendable, CustomStringConvertible {
  public var program: Program
  /// See `VirtualChoices`: behind the last one every choice is 0, the plain one.
  public var choices: [Int]

  public init(_ program: Program, choices: [Int]) {
    self.program = program
    self.choices = choices
  }

  /// The program's text, with the choices as a comment.
  public var description: String {
    "# schedule: \(choices.map(String.init).joined(separator: " "))\n\(program)"
  }

  /// What came of it.
  public struct Outcome: Sendable {
    public var failure: ProgramFailure?
    /// All choices of the run.
    public var choices: [Int] = []
    public var ran = 0
  }

  /// Where a program runs, and how long it may take.
  public struct Setting: Sendable {
    public var features = Features.all
    /// How long the controlling thread may hang in a call, in seconds.
    public var patience = 2.0
    /// Puts a backend around the deterministic one: for planted defects.
    public var wrap: @Sendable (DeterministicBackend) -> any Backend = { $0 }

    public init() {}
  }

  /// Runs the program with these choices, and plain ones behind them.
  public func run(_ setting: Setting = Setting()) -> Outcome {
    Self.run(program, VirtualChoices(replaying: choices, records: true), setting)
  }

  /// Runs a program with the choices of a seed.
  public static func run(_ program: Program, seed: UInt64, _ setting: Setting = Setting()) -> Outcome {
    run(program, VirtualChoices(seed: seed, records: true), setting)
  }

  /// All queues are on one backend, since one backend has one order. A run that hangs leaves its threads behind.
  private static func run(_ program: Program, _ choices: VirtualChoices, _ setting: Setting) -> Outcome {
    let program = program.onOneBackend
    let outcome = Monitor<Outcome?>(nil)
    let backend = DeterministicBackend(
      workers: program.backends[0].workers, strategy: .stealing(StealingStrategy()), seed: 0, choices: choices,
      fairnessInterval: 0, runsByItself: false, advancesByItself: true, patience: .seconds(60))
    startThread {
      var result = Outcome()
      let helper = Helper()
      do {
        try backend.hosting {
          let around = setting.wrap(backend)
          let execution = Execution(
            program, features: setting.features, isOrdered: true, backends: [around], helper: helper,
            patience: setting.patience, position: Monitor(""), schedule: backend)
          defer { result.ran = execution.model.operations.count { $0.began != nil } }
          do { try execution.run() } catch let failure as ProgramFailure {
            var failure = failure
            failure.journal = execution.journal.all.map { "\($0)" }
            throw failure
          }
        }
        backend.shutdown()
      } catch {
        result.failure = error as? ProgramFailure ?? ProgramFailure(category: "error", text: "\(error)")
      }
      helper.close()
      result.choices = backend.choices
      outcome.with { $0 = result }
    }
    if outcome.wait(seconds: setting.patience, until: { $0 != nil }), let result = outcome.value { return result }
    var hang = Outcome()
    hang.failure = ProgramFailure(category: "hang", text: "a call does not return")
    hang.choices = backend.choices
    return hang
  }
}

extension Program {
  /// A copy of the program with all queues on the first backend.
  var onOneBackend: Program {
    var program = self
    program.backends = [backends.first ?? BackendSpec(workers: 2)]
    for index in program.queues.indices { program.queues[index].backend = 0 }
    return program
  }
}
