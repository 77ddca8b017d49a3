import CPlatform
import Dispatch
import OperationJobs
import Synchronization

/// The main actor, which one thread has at a time: threads of tests, and the main thread. `README.md` here has the
/// protocol.
enum MainActorTurn {
  private enum Holder: Equatable {
    case mainThread
    case test(ObjectIdentifier)
  }

  private struct State {
    var holder: Holder?
    /// Jobs of the main thread, in the order in which they came.
    var jobs: ArraySlice<UnownedJob> = []
    /// How many tests want the turn.
    var wanting = 0
    /// The main thread has had a turn since a test had one.
    var isTestNext = false

    mutating func take(_ test: Holder) -> Bool {
      guard holder == nil else { return false }
      (holder, isTestNext) = (test, false)
      return true
    }
  }

  private static let state = Mutex(State())

  /// A job of the main actor that belongs to no test.
  static func runOnMainThread(_ job: UnownedJob) {
    state.withLock { $0.jobs.append(job) }
    DispatchQueue.main.async { runJobs() }
  }

  /// On the main thread, which never waits here: others may wait for that thread. A test that has the turn comes back
  /// to the jobs that are left.
  private static func runJobs() {
    // A job of the main actor may run a loop that runs others.
    let isInside = state.withLock { $0.holder == .mainThread }
    while let job = state.withLock({ state -> UnownedJob? in
      guard isInside || state.holder == nil && !(state.isTestNext && state.wanting > 0) else { return nil }
      guard let job = state.jobs.popFirst() else { return nil }
      state.holder = .mainThread
      return job
    }) {
      job.runSynchronously(on: MainActor.sharedUnownedExecutor)
      if isInside { continue }
      state.withLock { ($0.holder, $0.isTestNext) = (nil, true) }
    }
  }

  /// Runs a part of a test on the calling thread, which has the baton of the driver and keeps it until the turn comes.
  static func run(for driver: Driver, _ part: () -> Void) {
    let holder = Holder.test(ObjectIdentifier(driver))
    if !state.withLock({ $0.take(holder) }) {
      state.withLock { $0.wanting += 1 }
      let start = cplatform_now_ns()
      repeat { driver.pauseForOthers(since: start) } while !state.withLock({ $0.take(holder) })
      state.withLock { $0.wanting -= 1 }
    }
    part()
    giveUp(for: driver)
  }

  /// The test's part has ended, or will never end.
  static func giveUp(for driver: Driver) {
    let hasJobs = state.withLock { state in
      if state.holder == .test(ObjectIdentifier(driver)) { state.holder = nil }
      return !state.jobs.isEmpty
    }
    if hasJobs { DispatchQueue.main.async { runJobs() } }
  }
}
