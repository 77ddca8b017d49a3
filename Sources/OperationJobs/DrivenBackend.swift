import CPlatform
import Primitives
import Synchronization

/// A backend that decides itself which of its threads goes on, one at a time. A wait of the library on such a thread is
/// told to the backend: a thread that slept in the kernel instead would keep every other thread of the backend from
/// running.
package protocol DrivenBackend: SupervisedBackend {
  /// Returns when `condition` holds. The backend runs its jobs meanwhile.
  ///
  /// May be called on the backend's threads, and on any other thread that waits for an operation of this backend.
  /// - Parameters:
  ///   - condition: called now and then, on any thread of the backend, without locks. Must not block. What has held
  ///     once must go on to hold.
  ///   - whenQuiet: called on any thread of the backend, without locks, when nothing can happen on the backend before
  ///     somebody else acts.
  func wait(until condition: () -> Bool, whenQuiet: (() -> Void)?)
  /// Runs jobs beside the caller, as for a thread that waits, until `condition` holds.
  func run(until condition: @escaping @Sendable () -> Bool)
  /// A task outside of the backend begins to wait for an operation: the backend runs jobs, as for a thread that waits,
  /// until as many waits have ended as have begun. O(1).
  func beginTaskWait()
  /// The wait has ended. Called once for each begin, on the thread that ends it, without locks.
  func endTaskWait()
  /// A job of a task outside of all operations is about to be submitted: as `beginTaskWait`, but the backend begins
  /// with the submit, or with `lookAgain`. Else time might pass before the job is there.
  func expectTaskJob()
  /// An expected job has come to run behind one that was submitted earlier.
  func lookAgain()
  /// Runs the job soon, not behind other work: a question to a subclass.
  func ask(_ question: Job)
  /// Tells once, where the backend runs a test, what makes the run another than that of its seed.
  func complain(_ reason: String)
  /// Whether the clocks of the system show the backend's time on the backend's threads.
  var showsItsTime: Bool { get }
  /// Calls the closure when that much of the backend's time has passed, without locks.
  /// - Returns: takes the call back. No effect when the closure was called.
  func call(afterNanoseconds delay: Int64, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// A thread of a driven backend, or a thread on which a user's code uses such a backend. `WorkerLocal` of the thread
/// names an object of this kind.
package protocol DrivenThread: AnyObject {
  /// Nil when the backend is being deallocated.
  var drivenBackend: (any DrivenBackend)? { get }
}

/// The driven backends of the process. Without any, all that is asked here is one relaxed load, and only where a thread
/// is about to sleep.
@usableFromInline
package enum DrivenBackends {
  @usableFromInline static let count = Atomic<Int>(0)

  package static func begin() { count.wrappingAdd(1, ordering: .relaxed) }
  package static func end() { count.wrappingSubtract(1, ordering: .relaxed) }

  @inlinable @inline(__always)
  package static var exist: Bool { count.load(ordering: .relaxed) > 0 }

  /// The backend of the test that the calling task belongs to. A task may change its thread, so a thread says nothing
  /// of it.
  @TaskLocal package static var ofTest: (any DrivenBackend)?

  /// The driven backend that the calling thread works for; nil on all other threads.
  package static var here: (any DrivenBackend)? { exist ? ofThisThread : nil }

  @inline(never)
  private static var ofThisThread: (any DrivenBackend)? {
    (WorkerLocal.currentMember as? any DrivenThread)?.drivenBackend
  }

  /// The driven backend on which the calling code makes what is new; nil for none. A thread of a backend is in a job of
  /// that backend, whichever test made the job's task.
  package static var hereOrOfTest: (any DrivenBackend)? { exist ? ofThisThread ?? ofTest : nil }

  /// The driven backend on which a job of a task outside of all operations is handed over to `backend`; nil for none.
  package static func host(ofTaskOn backend: any Backend) -> (any DrivenBackend)? {
    exist ? backend as? any DrivenBackend : nil
  }

  /// Tells, in a test on a driven backend, that something goes by a real clock.
  /// - Parameter what: what does, as the subject of a sentence.
  package static func tellRealTime(_ what: String) {
    if here?.showsItsTime == true { return }
    hereOrOfTest?.complain(
      "\(what) goes by real time: give it the backend's clock. From here on the run is not that of its seed")
  }

  /// The backend for jobs without a queue.
  package static var orDefault: any Backend { hereOrOfTest ?? DefaultBackend.backend }

  /// Where forks run that are made outside of all operations.
  package static var forkHome: BackendHome {
    guard let home = hereOrOfTest?.home ?? DefaultBackend.box.forkHome else {
      fatalError("Operations: the default backend runs no forks")
    }
    return home
  }

  /// The backend of a queue that is made without one.
  package static var boxOrDefault: BackendBox { hereOrOfTest.map { BackendBox($0) } ?? DefaultBackend.box }
}

extension DrivenBackend {
  /// Waits for a condition that no other backend can hold up.
  package func wait(until condition: () -> Bool) { wait(until: condition, whenQuiet: nil) }

  /// Lets others go on, if the backend chooses so.
  package func passTurn() {
    var wasAsked = false
    wait {
      defer { wasAsked = true }
      return wasAsked
    }
  }
}

extension Job {
  /// What the job is, in words that are the same in every run: the operation's name, or else its class. Reads no
  /// overridden property.
  package var stepLabel: String { object._withUnsafeGuaranteedRef { $0.stepLabel } }
}
