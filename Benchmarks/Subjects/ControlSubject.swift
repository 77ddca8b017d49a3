import Glibc
import Harness
import Operations

/// The stealing backend with a known delay in front of every operation: the positive control of `opbench validate`,
/// and without a delay its null control. Both are this same code, and only a number in the environment differs.
///
/// The delay is taken where the operation is made, on the thread that adds it. Where adding and running do not
/// overlap, as in all benchmarks that `validate` uses, it lengthens the whole by just so much.
public enum ControlChoice: BackendChoice {
  public static var name: String { "control" }
  public static var summary: String { "the stealing backend with a known delay, for validate" }

  public static func makeQueue(workers: Int) -> OperationQueue { StealingChoice.makeQueue(workers: workers) }

  /// The variable that holds the rounds of spinning per operation.
  public static let delayVariable = "OPBENCH_CONTROL_ROUNDS"

  @usableFromInline static let rounds = getenv(delayVariable).flatMap { Int(String(cString: $0)) } ?? 0

  @inlinable public static func beforeEach() { Spin.run(rounds: rounds) }
}

public typealias ControlSubject = OperationsSubject<ControlChoice>
