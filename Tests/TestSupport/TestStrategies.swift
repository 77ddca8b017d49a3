import Glibc
import OperationBackends

/// Backends on strategies, as the suites see them.
///
/// `OPERATIONS_TEST_STRATEGIES` in the environment names those that take the place of all backends: names such as
/// `stealing(own=lifo)` or `deterministic` with commas; `all` for every single change of both pools; `sample:SEED` for
/// ten products of changes.
public enum TestStrategies {
  static let variable = "OPERATIONS_TEST_STRATEGIES"

  /// The backends that the environment names; nil when it names none.
  static let fromEnvironment: [TestBackend]? = getenv(variable).map { value in
    let text = String(cString: value)
    if text == "all" { return all }
    if text.hasPrefix("sample:"), let seed = UInt64(text.dropFirst("sample:".count)) { return sample(seed: seed) }
    return text.split(separator: ",").map { name in
      guard let backend = named(String(name)) else {
        fatalError(
          "\(variable): '\(name)' is no backend, and not stealing(…) or threadpool(…) with decisions that there are")
      }
      return backend
    }
  }

  /// Every single change of both pools.
  public static let all =
    StealingStrategy.singleChanges(numbers: numbers).map(stealing)
    + ThreadPoolStrategy.singleChanges(numbers: numbers).map(threadPool)

  /// Numbers at which a choice does something that its neighbours do not.
  private static func numbers<Strategy>(_ choice: Decision<Strategy>.Choice) -> [Int] {
    choice.text == "us:N" ? [0, 20] : choice.text == "lifo:N" ? [3] : choice.text == "N" ? [1, 16] : [1, 2, 8]
  }

  /// Products of two to five changes of the work-stealing pool.
  private static func sample(seed: UInt64) -> [TestBackend] {
    var random = SeededGenerator(seed: seed)
    let changes = StealingStrategy.singleChanges(numbers: numbers).map(\.description)
    return (0..<10).map { _ in
      var parts: [String: String] = [:]
      for _ in 0..<Int.random(in: 2...5, using: &random) {
        let change = changes.randomElement(using: &random)!
        parts[String(change.prefix { $0 != "=" })] = change
      }
      return stealing(try! StealingStrategy(parts.values.sorted().joined(separator: ";")))
    }
  }

  /// A backend such as `deterministic` or `stealing(own=lifo)`; nil when there is none of that name.
  private static func named(_ name: String) -> TestBackend? {
    guard let opening = name.firstIndex(of: "("), name.hasSuffix(")") else {
      return TestBackend.all.first { $0.name == name }
    }
    let text = String(name[name.index(after: opening)...].dropLast())
    switch name[..<opening] {
    case "stealing": return (try? StealingStrategy(text)).map(stealing)
    case "threadpool": return (try? ThreadPoolStrategy(text)).map(threadPool)
    default: return nil
    }
  }

  public static func stealing(_ strategy: StealingStrategy) -> TestBackend {
    TestBackend(
      name: strategy.name(of: "stealing"), compensatesBlockedBodies: true,
      isOrdered: !strategy.givenUpRows.contains(20), replacesWaitingThreads: !strategy.givenUpRows.contains(28),
      manyReady: 1_000_000, make: { StealingBackend(workers: $0, fairnessInterval: $1, strategy: strategy) },
      shutDown: { ($0 as? StealingBackend)?.shutdown() })
  }

  public static func threadPool(_ strategy: ThreadPoolStrategy) -> TestBackend {
    TestBackend(
      name: strategy.name(of: "threadpool"), compensatesBlockedBodies: true,
      isOrdered: !strategy.givenUpRows.contains(20), replacesWaitingThreads: !strategy.givenUpRows.contains(28),
      manyReady: 1_000_000, make: { ThreadPoolBackend(workers: $0, fairnessInterval: $1, strategy: strategy) },
      shutDown: { ($0 as? ThreadPoolBackend)?.shutdown() })
  }
}
