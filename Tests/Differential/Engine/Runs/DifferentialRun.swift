import Operations
import TestSupport

/// What to run.
public struct DifferentialSettings: Sendable {
  public var seed: UInt64 = 1
  /// How many programs a run has at most, and how long it goes on, in seconds.
  public var programs = 1_000
  public var seconds = Double.infinity
  public var features = Features.all
  /// How long a settled state may take to come, in seconds.
  public var patience = 20.0
  /// A program that needs longer for a settled state fails; seconds.
  public var slowLimit = Double.infinity
  /// Whether a slow program is slow again, and not only met a busy machine; nil: not asked.
  public var isSlowAgain: (@Sendable (Program) -> Bool)?
  /// How many failures end a run.
  public var mostFailures = 1
  public var shrinks = true
  /// Where the seed of each program is written before it runs.
  public var mark: SeedMark?

  public init() {}
}

/// A program that failed.
public struct FailedProgram: Sendable {
  public let seed: UInt64
  public let program: Program
  public let failure: ProgramFailure
  public internal(set) var shrunk: Program?
  /// Number of programs run before it.
  public let after: Int
}

/// What was done.
public struct DifferentialReport: Sendable {
  public let backend: String
  public internal(set) var programs = 0
  public internal(set) var operations = 0
  public internal(set) var ran = 0
  public internal(set) var statements = 0
  public internal(set) var seconds = 0.0
  public internal(set) var slowestSettle = 0.0
  public internal(set) var failures: [FailedProgram] = []

  public var summary: String {
    "\(backend): \(programs) programs, \(statements) statements, \(operations) operations of which \(ran) ran, "
      + "\(failures.count) failures, \(Int(seconds)) s, slowest rest \(Int(slowestSettle * 1_000)) ms"
  }
}

/// Random programs on one backend.
public enum DifferentialRun {
  /// Programs after which the backends are replaced.
  private static let programsPerPool = 500

  public static func run(_ backend: TestBackend, _ settings: DifferentialSettings) -> DifferentialReport {
    var report = DifferentialReport(backend: backend.name)
    let start = ContinuousClock.now
    func elapsed() -> Double {
      let time = start.duration(to: .now).components
      return Double(time.seconds) + Double(time.attoseconds) / 1e18
    }
    while report.programs < settings.programs, elapsed() < settings.seconds,
      report.failures.count < settings.mostFailures
    {
      let first = report.programs
      let last = min(first + programsPerPool, settings.programs)
      let left = settings.seconds - elapsed()
      let seeds = (first..<last).map { settings.seed &+ UInt64($0) }
      let outcome = ProgramRunner(backend, settings).run(seconds: left, count: seeds.count) {
        settings.mark?.set(seeds[$0])
        return program(seed: seeds[$0], for: backend, settings)
      }
      report.add(outcome)
      if let (program, failure) = outcome.failure {
        if failure.category == "slow", let isSlowAgain = settings.isSlowAgain, !isSlowAgain(program) { continue }
        var failed = FailedProgram(
          seed: seeds[outcome.programs - 1], program: program, failure: failure, after: report.programs)
        if settings.shrinks {
          failed.shrunk = Shrinker(backend: backend, settings: settings, category: failure.category).shrink(program)
        }
        report.failures.append(failed)
      }
    }
    report.seconds = elapsed()
    return report
  }

  private static func program(seed: UInt64, for backend: TestBackend, _ settings: DifferentialSettings) -> Program {
    ProgramGenerator.program(
      seed: seed, features: settings.features, mayStarve: backend.compensatesBlockedBodies)
  }

  /// What a run with these settings runs.
  public static func programs(for backend: TestBackend, _ settings: DifferentialSettings) -> [Program] {
    (0..<settings.programs).map { program(seed: settings.seed &+ UInt64($0), for: backend, settings) }
  }

  /// One program, again and again on fresh backends.
  /// - Returns: the first failure.
  public static func replay(
    _ program: Program, on backend: TestBackend, times: Int, _ settings: DifferentialSettings
  ) -> ProgramFailure? {
    ProgramRunner(backend, settings).run(seconds: .infinity, count: times) { _ in program }.failure?.failure
  }
}

extension DifferentialReport {
  mutating func add(_ outcome: ProgramRunner.Outcome) {
    programs += outcome.programs
    operations += outcome.operations
    ran += outcome.ran
    statements += outcome.statements
    slowestSettle = max(slowestSettle, outcome.slowestSettle)
  }
}
