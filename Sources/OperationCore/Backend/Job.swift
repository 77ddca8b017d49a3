import Primitives
import Scheduling
import Synchronization

/// Something for a backend to run once: one word that stands for one owned reference.
///
/// A job that a backend took must be run exactly once. A job that is never run leaks what it stands for.
public struct Job: @unchecked Sendable {
  // Sendable: an object reference whose class guards its own state; ownership moves with the value.
  @usableFromInline package let word: UInt

  @usableFromInline package init(word: UInt) {
    assert(word != 0, "a job that stands for nothing")
    self.word = word
  }

  init(owning object: Unmanaged<JobObject>) { word = UInt(bitPattern: object.toOpaque()) }

  /// A job that runs a closure: for using a backend without operations. One allocation beside the closure's.
  public init(priority: Operation.QueuePriority = .normal, _ body: @escaping @Sendable () -> Void) {
    self.init(owning: Unmanaged<JobObject>.passRetained(ClosureJob(level: priority.level, body)))
  }

  /// The object that the word stands for.
  @inlinable var object: Unmanaged<JobObject> { JobObject.unmanaged(word) }

  /// How urgent the job is among the backend's jobs.
  public var priority: Operation.QueuePriority { Operation.QueuePriority(level: level) }

  /// The priority as an index: 0 (very low) to 4 (very high).
  @inlinable package var level: Int { object._withUnsafeGuaranteedRef { $0.level } }

  /// Runs the job on the calling thread.
  /// - Returns: the job that this thread should run next (for example an operation that waited for this one), or nil.
  ///   The caller runs or submits that job.
  public func run() -> Job? {
    let outcome = object._withUnsafeGuaranteedRef { $0.runJob() }
    outcome.giveBack(word)
    return outcome.next == 0 ? nil : Job(word: outcome.next)
  }

  /// For a backend that takes no more jobs: gets rid of a job that has nothing to do. An entry may still be on its
  /// way when another thread has started the entry's operation, and a ticket when nothing is left to start. A thread
  /// that waited for the operations may shut the backend down at that moment.
  /// - Returns: false when the job has something to do, and was left as it is.
  package func dropIfVoid() -> Bool {
    guard object._withUnsafeGuaranteedRef({ $0.isVoid }) else { return false }
    _ = run()
    return true
  }

  /// The number of levels that `level` knows.
  @inlinable package static var levels: Int { Levels.count }
  /// The level of `normal`.
  @inlinable package static var middleLevel: Int { Levels.middle }
  /// One element for each level. (The length of an inline array is written as a number.)
  typealias PerLevel<Element: ~Copyable> = InlineArray<5, Element>
  /// The most urgent level.
  static var highestLevel: Int { levels - 1 }
}

/// The root of everything that a backend can run. Not for subclassing outside this module: use `Operation` or `Job`'s
/// closure.
open class JobObject {
  /// The next node in the intrusive list that holds this job.
  @usableFromInline final let link = Atomic<UInt>(0)
  /// Bits 0-2: the level. The other bits belong to `Operation` (its explicit priority and quality of service).
  @usableFromInline final let levelWord: Atomic<UInt32>

  init(levelWord: UInt32) { self.levelWord = Atomic(levelWord) }

  @inlinable final var level: Int { Int(levelWord.load(ordering: .relaxed) & 7) }

  @inlinable static func unmanaged(_ word: UInt) -> Unmanaged<JobObject> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  func runJob() -> JobOutcome { fatalError("every kind of job runs in its own way") }

  /// For an entry in a controller's lists: claims the operation. The controller lets the operation start now.
  func claimAdmitted() -> AdmittedClaim { fatalError("only operations and their entries stand in a queue's lists") }

  /// For an entry in a controller's lists that goes to the backend instead: the operation's start and finish are not
  /// the controller's any more.
  func leaveController() { fatalError("only operations and their entries stand in a queue's lists") }

  /// Whether running the job would start nothing, now and for good.
  var isVoid: Bool { false }

  /// What a record of steps calls the job. Without locks of the caller's.
  var stepLabel: String { "\(type(of: self))" }

  /// Gives back what a void entry held, when the entry was taken out of a controller's list. Called without locks.
  func discard() {}
}

/// A closure as a job.
final class ClosureJob: JobObject {
  private let body: @Sendable () -> Void

  init(level: Int, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    super.init(levelWord: UInt32(level))
  }

  override var stepLabel: String { "closure" }

  override func runJob() -> JobOutcome {
    OwedReferences.settle()
    body()
    return JobOutcome(isReleased: true)
  }
}

/// How intrusive lists reach a job's link. The accesses are relaxed because the lists themselves publish.
@usableFromInline
package enum JobNode: IntrusiveNode {
  @inlinable package static func next(of node: UInt) -> UInt {
    JobObject.unmanaged(node)._withUnsafeGuaranteedRef { $0.link.load(ordering: .relaxed) }
  }

  @inlinable package static func setNext(of node: UInt, to next: UInt) {
    JobObject.unmanaged(node)._withUnsafeGuaranteedRef { $0.link.store(next, ordering: .relaxed) }
  }
}

/// A FIFO of jobs through their own links.
package typealias JobFIFO = IntrusiveFIFO<JobNode>
