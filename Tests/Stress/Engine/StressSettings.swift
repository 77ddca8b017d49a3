import Glibc

/// How long the stress tests run and what they draw from: two environment variables, so that a test run,
/// `scripts/hunt/stress` and the stress executable agree.
public struct StressSettings: Sendable {
  /// Seconds for each backend.
  public var seconds: Double
  /// The first round's seed; round i uses seed + i, so the seed in a failure's message repeats its round first.
  public var seed: UInt64

  public init(seconds: Double = 1, seed: UInt64 = 1) {
    self.seconds = seconds
    self.seed = seed
  }

  /// `OPBENCH_STRESS_SECONDS` and `OPBENCH_STRESS_SEED`; an unreadable value stops the process rather than be ignored.
  public static let fromEnvironment = StressSettings(
    seconds: read("OPBENCH_STRESS_SECONDS", default: 1) { Double($0) },
    seed: read("OPBENCH_STRESS_SEED", default: 1) { UInt64($0) })

  private static func read<Value>(_ name: String, default value: Value, _ parse: (String) -> Value?) -> Value {
    guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { return value }
    guard let parsed = parse(text) else { fatalError("\(name) is \"\(text)\", which is not a number") }
    return parsed
  }
}
