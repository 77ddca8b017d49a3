import Glibc
import HarnessMeasuring
import HarnessWords
import Operations

/// The stealing backend with a known cost in front of every operation: the positive control of `opbench validate` and
/// of the gate's self-test. Without any cost, the subject is their null control. All controls are this same code, and
/// only numbers in the environment differ.
///
/// The cost is spent where the operation is made, on the thread that adds the operation. When adding and running do not
/// overlap, as in all benchmarks that `validate` uses, a delay lengthens the whole by exactly the delay.
public enum ControlChoice: BackendChoice {
  public static var name: String { "control" }
  public static var summary: String { "the stealing backend with a known delay, for validate" }
  public static var role: SubjectRole { .control }

  public static var bareSummary: String { StealingChoice.bareSummary }

  public static func makeBackend(workers: Int, fairnessInterval: Int) -> StealingBackend {
    StealingChoice.makeBackend(workers: workers, fairnessInterval: fairnessInterval)
  }

  /// The variable with the rounds of `Delay` per operation.
  public static let delayVariable = "OPBENCH_CONTROL_ROUNDS"
  /// The variable with the most rounds that a process adds to the delay. Each process draws its own number, and so is
  /// slow or fast by chance.
  public static let noiseVariable = "OPBENCH_CONTROL_NOISE_ROUNDS"
  /// The variable with the number of pieces of memory that are allocated, and freed, per operation.
  public static let allocationsVariable = "OPBENCH_CONTROL_ALLOCATIONS"

  @usableFromInline static let rounds = number(delayVariable) + Int.random(in: 0...max(0, number(noiseVariable)))
  @usableFromInline static let allocations = number(allocationsVariable)

  private static func number(_ variable: String) -> Int { getenv(variable).flatMap { Int(String(cString: $0)) } ?? 0 }

  @inlinable public static func beforeEach() {
    Delay.run(rounds: rounds)
    if allocations > 0 { allocate() }
  }

  /// Not inlined, so that the optimiser does not see that the memory is never read.
  @inline(never) @usableFromInline
  static func allocate() {
    for _ in 0..<allocations {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 16)
      memory.storeBytes(of: rounds, as: Int.self)
      memory.deallocate()
    }
  }
}

public typealias ControlSubject = OperationsSubject<ControlChoice>
