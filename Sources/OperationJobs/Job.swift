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

  package init(owning object: Unmanaged<JobObject>) { word = UInt(bitPattern: object.toOpaque()) }

  /// A job that runs a closure, at a level. One allocation beside the closure's.
  package init(level: Int, _ body: @escaping @Sendable () -> Void) {
    self.init(owning: Unmanaged<JobObject>.passRetained(ClosureJob(level: level, body)))
  }

  /// The object that the word stands for.
  @inlinable package var object: Unmanaged<JobObject> { JobObject.object(word) }

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
  package typealias PerLevel<Element: ~Copyable> = InlineArray<5, Element>
  /// The most urgent level.
  package static var highestLevel: Int { levels - 1 }
}

/// The root of everything that a backend can run. Not for subclassing outside of the package: use `Operation`, or a job
/// of a closure.
open class JobObject {
  /// The next node in the intrusive list that holds this job.
  @usableFromInline package final let link = Atomic<UInt>(0)
  /// Bits 0-2: the level. The other bits belong to `Operation` (its explicit priority and quality of service).
  @usableFromInline package final let levelWord: Atomic<UInt32>

  /// At the middle level. (The only designated initializer, since a subclass of a user's inherits the convenience
  /// initializers of `Operation` if `Operation` overrides each designated one.)
  package init() { levelWord = Atomic(UInt32(Levels.middle)) }

  /// Called before others know the object.
  package final func setLevel(_ level: Int) { levelWord.store(UInt32(level), ordering: .relaxed) }

  @inlinable package final var level: Int { Int(levelWord.load(ordering: .relaxed) & 7) }

  @inlinable package static func object(_ word: UInt) -> Unmanaged<JobObject> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  // Overridden in other modules of the package, which Swift allows for `open` members alone. As members of an interface
  // of the package's own they cannot be seen by a user's subclass of `Operation`, which may have such names itself.

  @_spi(Jobs) open func runJob() -> JobOutcome { fatalError("every kind of job runs in its own way") }

  /// Whether running the job would start nothing, now and for good.
  @_spi(Jobs) open var isVoid: Bool { false }

  /// What a record of steps calls the job. Without locks of the caller's.
  @_spi(Jobs) open var stepLabel: String { "\(type(of: self))" }

  /// Gives back the reference that the job was, or keeps the object for another job.
  @_spi(Jobs) open func giveBackReusable() { Unmanaged.passUnretained(self).release() }
}

/// A closure as a job.
package final class ClosureJob: JobObject {
  private let body: @Sendable () -> Void

  init(level: Int, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    super.init()
    setLevel(level)
  }

  override package var stepLabel: String { "closure" }

  override package func runJob() -> JobOutcome {
    OwedReferences.settle()
    body()
    return JobOutcome(isReleased: true)
  }
}

/// How intrusive lists reach a job's link. The accesses are relaxed because the lists themselves publish.
@usableFromInline
package enum JobNode: IntrusiveNode {
  @inlinable package static func next(of node: UInt) -> UInt {
    JobObject.object(node)._withUnsafeGuaranteedRef { $0.link.load(ordering: .relaxed) }
  }

  @inlinable package static func setNext(of node: UInt, to next: UInt) {
    JobObject.object(node)._withUnsafeGuaranteedRef { $0.link.store(next, ordering: .relaxed) }
  }
}

/// A FIFO of jobs through their own links.
package typealias JobFIFO = IntrusiveFIFO<JobNode>
