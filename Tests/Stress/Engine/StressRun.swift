import Operations
import TestSupport

/// Rounds on one backend for some time: the entry point of the tests and of the executable.
public enum StressRun {
  /// What was done, to show that a run exercised what it should.
  public struct Report: Sendable, CustomStringConvertible {
    public let backend: String
    public fileprivate(set) var rounds = 0
    public fileprivate(set) var ran = 0
    public fileprivate(set) var cancelled = 0
    public fileprivate(set) var barriers = 0
    public fileprivate(set) var suspensions = 0
    public fileprivate(set) var cancelAlls = 0
    /// Trees of joins.
    public fileprivate(set) var trees = 0
    /// Runs of graphs.
    public fileprivate(set) var graphs = 0
    /// One line each, with what repeats it. The run ends after the first round that has any.
    public fileprivate(set) var failures: [String] = []

    public var description: String {
      "\(backend): \(rounds) rounds, \(ran) operations ran, \(cancelled) were cancelled before they started, \(barriers) "
        + "barriers ran, \(suspensions) suspensions, \(cancelAlls) times all cancelled, \(trees) trees of joins, "
        + "\(graphs) runs of graphs, "
        + "\(failures.count) failures"
    }
  }

  /// At least one round, and until the time is over.
  public static func run(_ backend: TestBackend, _ settings: StressSettings) -> Report {
    var report = Report(backend: backend.name)
    let end = ContinuousClock.now + .seconds(settings.seconds)
    repeat {
      let first = settings.seed &+ UInt64(report.rounds)
      do {
        // Some rounds share a backend, so that it goes to sleep and wakes with workers that have a past.
        try backend.withBackend(workers: StressProfile(seed: first).workers) { instance in
          repeat {
            runRound(seed: settings.seed &+ UInt64(report.rounds), on: instance, into: &report)
          } while report.failures.isEmpty && report.rounds % 8 != 0 && ContinuousClock.now < end
        }
      } catch {
        report.failures.append("\(backend.name): \(error)\(repeating(first))")
      }
    } while report.failures.isEmpty && ContinuousClock.now < end
    return report
  }

  /// Random graphs alone, each with a serial run as its model.
  /// - Returns: what was made and run, and the failures.
  public static func runGraphs(
    _ count: Int, on backend: TestBackend, _ settings: StressSettings
  ) -> (graphs: Int, runs: Int, failures: [String]) {
    var (graphs, runs, seed) = (0, 0, settings.seed)
    var failures: [String] = []
    while graphs < count, failures.isEmpty {
      do {
        try backend.withBackend(workers: StressProfile(seed: seed).workers) { instance in
          repeat {
            let outcome = try GraphRound(seed: seed).run(on: instance)
            (graphs, runs) = (graphs + outcome.graphs, runs + outcome.runs)
            failures += outcome.violations.map { "\(backend.name): \($0)\(repeating(seed))" }
            seed &+= 1
          } while graphs < count && failures.isEmpty && seed % 8 != 0
        }
      } catch {
        failures.append("\(backend.name): \(error)\(repeating(seed))")
      }
    }
    return (graphs, runs, failures)
  }

  private static func runRound(seed: UInt64, on instance: any Backend, into report: inout Report) {
    let round = StressRound(seed: seed)
    do {
      let outcome = try round.run(on: instance)
      let history = outcome.history
      report.ran += history.operations.count(where: \.ran)
      report.cancelled += history.operations.count { !$0.ran && $0.kind != .phantom }
      report.barriers += history.barriers.count { $0.begins > 0 }
      report.suspensions += history.suspensions.count
      report.cancelAlls += history.cancelAlls.count
      let forks = try ForkJoinRound(seed: seed).run(on: instance)
      report.trees += forks.trees
      let graphs = try GraphRound(seed: seed).run(on: instance)
      report.graphs += graphs.runs
      let violations = outcome.violations + forks.violations + graphs.violations
      report.failures += violations.map { "\(instance.name), \(round.profile): \($0)\(repeating(seed))" }
    } catch let hang as StressHang {
      report.failures.append("\(instance.name), \(round.profile): \(hang.reason)\(hang.state)\(repeating(seed))")
    } catch {
      report.failures.append("\(instance.name), \(round.profile): \(error)\(repeating(seed))")
    }
    report.rounds += 1
  }

  private static func repeating(_ seed: UInt64) -> String { "\n  repeat with OPBENCH_STRESS_SEED=\(seed)" }
}
