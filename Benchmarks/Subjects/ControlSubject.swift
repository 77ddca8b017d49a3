import Glibc
import Harness
import Operations

/// The stealing backend with something known done in front of every operation: the positive control of `opbench
/// validate` and of the gate's self-test, and without any of it their null control. All are this same code, and only
/// numbers in the environment differ.
///
/// It is done where the operation is made, on the thread that adds it. Where adding and running do not overlap, as in
/// all benchmarks that `validate` uses, a delay lengthens the whole by just so much.
public enum ControlChoice: BackendChoice {
  public static var name: String { "control" }
  public static var summary: String { "the stealing backend with a known delay, for validate" }
  public static var role: SubjectRole { .control }

  public static var bareSummary: String { StealingChoice.bareSummary }

  public static func makeBackend(workers: Int, fairnessInterval: Int) -> StealingBackend {
    StealingChoice.makeBackend(workers: workers, fairnessInterval: fairnessInterval)
  }

  /// The variable that holds the rounds of spinning per operation.
  public static let delayVariable = "OPBENCH_CONTROL_ROUNDS"
  /// The variable that holds how many rounds a process adds to that at most: it draws its own number, and so is slow
  /// or fast by luck.
  public static let noiseVariable = "OPBENCH_CONTROL_NOISE_ROUNDS"
  /// The variable that holds how many pieces of memory are allocated, and freed, per operation.
  public static let allocationsVariable = "OPBENCH_CONTROL_ALLOCATIONS"

  @usableFromInline static let rounds = number(delayVariable) + Int.random(in: 0...max(0, number(noiseVariable)))
  @usableFromInline static let allocations = number(allocationsVariable)

  private static func number(_ variable: String) -> Int { getenv(variable).flatMap { Int(String(cString: $0)) } ?? 0 }

  @inlinable public static func beforeEach() {
    Spin.run(rounds: rounds)
    if allocations > 0 { allocate() }
  }

  /// Not inlined, so that the optimiser does not see that nobody reads the memory.
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
