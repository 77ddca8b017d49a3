import HarnessWords
import Operations

/// One of this library's backends under its stable name. The backend is a concrete type, so that its `submit` is no
/// call through an existential.
public protocol BackendChoice: Sendable {
  associatedtype Executor: Backend
  static var name: String { get }
  static var summary: String { get }
  /// The summary of the `BareSubject`.
  static var bareSummary: String { get }
  static var role: SubjectRole { get }
  /// - Parameter workers: 0 for the CPUs that the process may use.
  static func makeBackend(workers: Int, fairnessInterval: Int) -> Executor
  /// Runs before each operation is made. Does nothing, except in the control of `opbench validate`.
  static func beforeEach()
}

extension BackendChoice {
  public static var role: SubjectRole { .ours }
  @inlinable @inline(__always) public static func beforeEach() {}
}

/// The backends of this library. A new backend needs its enumeration here, and its line in each function.
public enum OwnBackends {
  /// Visits the operation queues first, then the same pools without operations.
  @inlinable
  public static func visitAll<Visitor: SubjectVisitor>(_ visitor: inout Visitor) {
    visitor.visit(StealingSubject.self)
    visitor.visit(ThreadPoolSubject.self)
    visitor.visit(DispatchSubject.self)
    visitor.visit(BareSubject<StealingChoice>.self)
    visitor.visit(BareSubject<ThreadPoolChoice>.self)
    visitor.visit(BareSubject<DispatchChoice>.self)
  }

  public static let choices: [any BackendChoice.Type] = [
    StealingChoice.self, ThreadPoolChoice.self, DispatchChoice.self,
  ]
}

public enum StealingChoice: BackendChoice {
  public static var name: String { "stealing" }
  public static var summary: String { "our operation queue on the work-stealing pool" }
  public static var bareSummary: String { "the work-stealing pool, given closures" }
  public static func makeBackend(workers: Int, fairnessInterval: Int) -> StealingBackend {
    let backend = StealingBackend(
      workers: workers == 0 ? nil : workers, fairnessInterval: fairnessInterval, strategy: SubjectVariant.stealing)
    MadeBackends.add(backend)
    return backend
  }
}

public enum ThreadPoolChoice: BackendChoice {
  public static var name: String { "threadpool" }
  public static var summary: String { "our operation queue on the pool with one lock" }
  public static var bareSummary: String { "the pool with one lock, given closures" }
  public static func makeBackend(workers: Int, fairnessInterval: Int) -> ThreadPoolBackend {
    let backend = ThreadPoolBackend(
      workers: workers == 0 ? nil : workers, fairnessInterval: fairnessInterval, strategy: SubjectVariant.threadPool)
    MadeBackends.add(backend)
    return backend
  }
}

public enum DispatchChoice: BackendChoice {
  public static var name: String { "dispatch" }
  public static var summary: String { "our operation queue on Dispatch's threads" }
  public static var bareSummary: String { "our priority lists on Dispatch's threads, given closures" }
  public static func makeBackend(workers: Int, fairnessInterval: Int) -> DispatchBackend {
    DispatchBackend(workers: workers == 0 ? nil : workers, fairnessInterval: fairnessInterval)
  }
}

public typealias StealingSubject = OperationsSubject<StealingChoice>
public typealias ThreadPoolSubject = OperationsSubject<ThreadPoolChoice>
public typealias DispatchSubject = OperationsSubject<DispatchChoice>
