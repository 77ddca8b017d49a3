import CPlatform
import OperationCore
import Primitives
import Scheduling
import VirtualScheduling

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Runs a test once for each seed, each time on a fresh deterministic backend as `withDeterministicOperations(seed:)`
/// makes it. For Swift Testing, XCTest and programs alike.
///
/// Before each run a line with the seed goes to standard error, so that a crash keeps it. With the environment variable
/// `OPERATIONS_SEED` only that seed runs:
///
/// ```swift
/// import DeterministicOperations
/// import Operations
///
/// try forEachSeed(0..<100) { backend in
///   let queue = OperationQueue()
///   for number in 1...10 { queue.addOperation { backend.work(for: .milliseconds(number)) } }
///   queue.waitUntilAllOperationsAreFinished()
///   precondition(backend.now < .milliseconds(56))
/// }
/// ```
/// - Parameters:
///   - seeds: the seeds, one after the other.
///   - workers: virtual workers.
///   - strategy: how the imitated pool schedules.
///   - advancesByItself: whether the clock goes on to the next event when nothing is left to do at the present time.
///   - checksDeterminism: whether each seed runs twice. Then a test fails that does not do the same both times: it
///     reads real time or a random number, or uses threads of its own. An address, or the order of a `Set`, is often
///     the same both times: run tests with `SWIFT_DETERMINISTIC_HASHING=1` in the environment.
///   - file: the file that the line before each run names.
///   - line: the line in it.
///   - body: the test.
/// - Throws: `SeedFailure` when the body throws; `NondeterminismFailure` when two runs of a seed differ.
public func forEachSeed(
  _ seeds: some Sequence<UInt64>, workers: Int = 4, strategy: StealingStrategy = .init(), advancesByItself: Bool = true,
  checksDeterminism: Bool = false, file: StaticString = #fileID, line: UInt = #line,
  _ body: (DeterministicBackend) throws -> Void
) throws {
  func run(_ seed: UInt64) throws -> [DeterministicStep] {
    let backend = DeterministicBackend(
      workers: workers, strategy: strategy, seed: seed, runsByItself: false, advancesByItself: advancesByItself,
      recordsSteps: true)
    do { try backend.host(body) } catch {
      throw SeedFailure(seed: seed, underlyingError: error, steps: backend.steps)
    }
    return backend.steps
  }
  func runNamed(_ seed: UInt64) throws {
    SeedVariable.tell(seed, file, line)
    let first = try run(seed)
    if checksDeterminism, let failure = NondeterminismFailure(seed: seed, first, try run(seed)) { throw failure }
  }
  if let only = SeedVariable.value { return try runNamed(only) }
  for seed in seeds { try runNamed(seed) }
}

/// Which failure of many seeds is thrown.
public enum SeedSearch: Sendable {
  /// The first one: the seeds behind it do not run.
  case first
  /// The one with the fewest steps: all seeds run.
  case shortest
}

/// Runs an asynchronous test once for each seed, each time as `withSeededTasks(seed:)` does: all tasks of the test
/// belong to the seed.
///
/// ```swift
/// import DeterministicOperations
///
/// actor Account {
///   private(set) var balance = 100
///   func pay(_ amount: Int) async {
///     guard balance >= amount else { return }
///     await Task.yield()  // asks a server: another payment may come in between
///     balance -= amount
///   }
/// }
///
/// struct Overdrawn: Error {}
///
/// func findsTheRace() async throws {
///   try await forEachSeed(0..<200, finds: .shortest) { _ in
///     let account = Account()
///     async let first: Void = account.pay(80)
///     async let second: Void = account.pay(80)
///     _ = await (first, second)
///     if await account.balance < 0 { throw Overdrawn() }
///   }
/// }
/// ```
/// - Parameters:
///   - seeds: the seeds, one after the other. With `OPERATIONS_SEED` in the environment only that seed runs.
///   - workers: virtual workers, for operations.
///   - strategy: how the imitated pool schedules operations.
///   - patience: how long all tasks may wait, in real time, for something outside of the test.
///   - order: how a seed chooses among the tasks that can go on.
///   - mayLeave: whether the test may leave the order.
///   - finds: which failure is thrown.
///   - checksDeterminism: whether each seed runs twice, and fails where the two runs differ.
///   - file: the file that the line before each run names.
///   - line: the line in it.
///   - body: the test.
/// - Throws: `SeedFailure` when the body throws, or when all tasks wait; `NondeterminismFailure` when two runs of a
///   seed differ.
public func forEachSeed(
  _ seeds: some Sequence<UInt64>, workers: Int = 4, strategy: StealingStrategy = .init(),
  patience: Duration = .seconds(1), order: TaskOrder = .even, mayLeave: Bool = true, finds: SeedSearch = .first,
  checksDeterminism: Bool = false,
  file: StaticString = #fileID, line: UInt = #line,
  _ body: @escaping @Sendable (DeterministicBackend) async throws -> Void
) async throws {
  func run(_ seed: UInt64) async throws -> [DeterministicStep] {
    let backend = DeterministicBackend(
      forTasksOf: seed, workers: workers, strategy: strategy, patience: patience)
    do { try await backend.hostTasks(order: order, mayLeave: mayLeave, body) } catch {
      throw SeedFailure(seed: seed, underlyingError: error, steps: backend.steps)
    }
    return backend.steps
  }
  var shortest: SeedFailure?
  func runNamed(_ seed: UInt64) async throws {
    SeedVariable.tell(seed, file, line)
    do {
      let first = try await run(seed)
      if checksDeterminism, let failure = NondeterminismFailure(seed: seed, first, try await run(seed)) {
        throw failure
      }
    } catch let failure as SeedFailure where finds == .shortest {
      if shortest.map({ failure.steps.count < $0.steps.count }) ?? true { shortest = failure }
    }
  }
  if let only = SeedVariable.value {
    try await runNamed(only)
  } else {
    for seed in seeds { try await runNamed(seed) }
  }
  if let shortest { throw shortest }
}

/// The test of `forEachSeed` threw an error.
public struct SeedFailure: Error, CustomStringConvertible {
  /// The seed that shows the failure again.
  public let seed: UInt64
  /// What the test threw.
  public let underlyingError: any Error
  /// What happened until then.
  public let steps: [DeterministicStep]

  package init(seed: UInt64, underlyingError: any Error, steps: [DeterministicStep]) {
    (self.seed, self.underlyingError, self.steps) = (seed, underlyingError, steps)
  }

  /// The error, how to run the seed again, and the last steps.
  public var description: String {
    "with seed \(seed): \(underlyingError)\n\(Self.words(about: steps, of: seed))"
  }

  /// How to run the seed again, and the last steps.
  package static func words(about steps: [DeterministicStep], of seed: UInt64) -> String {
    let shown = steps.suffix(shownSteps)
    let left = steps.count - shown.count
    let before = left > 0 ? ["  (\(left) steps before these)"] : []
    return (["\(SeedVariable.name)=\(seed) runs it again. The steps:"] + before + shown.map { "  \($0)" })
      .joined(separator: "\n")
  }

  private static var shownSteps: Int { 40 }
}

/// Two runs with the same seed differ: something in the test is not decided by the seed.
public struct NondeterminismFailure: Error, CustomStringConvertible {
  /// The seed of both runs.
  public let seed: UInt64
  /// The index of the first step that differs.
  public let index: Int
  /// That step in the first run; nil when the run has fewer steps.
  public let first: DeterministicStep?
  /// That step in the second run; nil when the run has fewer steps.
  public let second: DeterministicStep?

  /// - Returns: nil when the runs are the same.
  init?(seed: UInt64, _ steps: [DeterministicStep], _ otherSteps: [DeterministicStep]) {
    let common = zip(steps, otherSteps).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    if common == steps.count, common == otherSteps.count { return nil }
    self.seed = seed
    index = common
    first = steps.indices.contains(common) ? steps[common] : nil
    second = otherSteps.indices.contains(common) ? otherSteps[common] : nil
  }

  public var description: String {
    func words(_ step: DeterministicStep?) -> String { step.map { "\"\($0)\"" } ?? "the end" }
    return """
      seed \(seed) does not decide what happens: step \(index + 1) was \(words(first)), and in a second run \
      \(words(second)). The test reads real time, an address or a random number, goes by the order of a Set, or uses threads \
      of its own.
      """
  }
}

/// The environment variable that names the one seed to run.
package enum SeedVariable {
  static let name = "OPERATIONS_SEED"

  /// Says which seed runs, so that a crash keeps it.
  package static func tell(_ seed: UInt64, _ file: some CustomStringConvertible, _ line: some BinaryInteger) {
    "Operations: \(name)=\(seed) in \(file):\(line)".withCString { cplatform_print_error($0) }
  }

  /// Nil when the variable is not set. Traps when its value is no seed.
  package static var value: UInt64? {
    guard let text = getenv(name) else { return nil }
    guard let seed = UInt64(String(cString: text)) else {
      fatalError(
        "Operations: \(name) is \"\(String(cString: text))\": it must be a whole number from 0 to \(UInt64.max)")
    }
    return seed
  }
}
