import CPlatform
import Dispatch
import OperationCore
import Primitives
import Synchronization

/// The ready jobs, and the callouts that drain them. Kept alive by its callouts.
///
/// A callout is *out* from when it is handed to Dispatch until it finds nothing to run. At most `width` are out, plus one
/// for each job that said it blocks. Everything is under `lock`.
final class CalloutLists: @unchecked Sendable {
  // Sendable: `state` is touched under `lock`.

  struct State: ~Copyable {
    var queues = InlineArray<5, JobFIFO> { _ in JobFIFO() }
    var queued = 0
    var out = 0
    var blocked = 0
    /// Added by the monitor, for bodies that block without saying so.
    var extra = 0
    /// Threads that run a callout now, for the monitor.
    var threads: [Int32] = []
  }

  private let queue: DispatchQueue
  /// Nobody else uses the queue, so jobs may also run on threads that are not its own.
  private let isPrivate: Bool
  private let width: Int
  private let lock = FutexLock()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  private let monitor: BlockingMonitor
  /// Jobs begun, for the monitor.
  private let progress = Atomic<Int>(0)
  /// `queued`, for callouts that look without the lock.
  private let queuedHint = Atomic<Int>(0)

  /// Jobs that one callout runs before it goes to the tail of a queue that it shares with others.
  private static let calloutLength = 256
  /// Looks for a new job before a callout ends, and pauses between two: handing a callout to Dispatch costs more.
  private static let spinRounds = 20
  private static let pausesPerRound = 8

  init(queue: DispatchQueue, isPrivate: Bool, width: Int) {
    self.queue = queue
    self.isPrivate = isPrivate
    self.width = width
    monitor = BlockingMonitor(name: "dispatch-watch", workerCount: width)
    state.initialize(to: State())
  }

  deinit {
    monitor.stop()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  func submit(_ job: Job) {
    lock.lock()
    state.pointee.queues[job.level].append(job.word)
    state.pointee.queued += 1
    unlockAndCallOut(atMost: 1)
  }

  func submit(_ jobs: consuming JobFIFO) {
    lock.lock()
    let count = jobs.count
    while case let job = jobs.popFirst(), job != 0 { state.pointee.queues[Job(word: job).level].append(job) }
    state.pointee.queued += count
    unlockAndCallOut(atMost: count)
  }

  /// As many callouts as there are jobs and places for.
  private func unlockAndCallOut(atMost count: Int) {
    let places = allowed - state.pointee.out
    let new = max(0, min(count, places, state.pointee.queued))
    state.pointee.out += new
    queuedHint.store(state.pointee.queued, ordering: .relaxed)
    let full = new == 0 && count > 0
    lock.unlock()
    for _ in 0..<new { callOut() }
    if full, !monitor.isArmed { armMonitor() }
  }

  private var allowed: Int { width + state.pointee.blocked + state.pointee.extra }

  /// When no job begins for a while although callouts are out, more are handed to Dispatch: whether it has threads for
  /// them, it decides.
  private func armMonitor() {
    monitor.arm(
      sample: { [weak self] in self?.sample() },
      addSpares: { [weak self] in self?.addCallouts($0) })
  }

  private func sample() -> BlockingMonitor.Sample {
    let (queued, out, threads) = lock.withLock {
      (state.pointee.queued, state.pointee.out, state.pointee.threads)
    }
    let blocked = threads.reduce(0) { $0 + (cplatform_thread_is_blocked($1) ? 1 : 0) }
    // Callouts that Dispatch has no thread for are no reason to hand it more.
    return BlockingMonitor.Sample(
      queued: queued, progress: progress.load(ordering: .relaxed), busy: threads.count, blocked: blocked, live: out)
  }

  private func addCallouts(_ count: Int) {
    if count > 0, cplatform_is_tracing() { TraceProbe.addsSpares(count) }
    lock.lock()
    state.pointee.extra = count == 0 ? 0 : state.pointee.extra + count
    unlockAndCallOut(atMost: count)
  }

  private func callOut() {
    queue.async { OwedReferences.allowed { self.drain(onQueue: true) } }
  }

  /// - Parameter onQueue: on one of the dispatch queue's threads, rather than one that stands in for a blocked one.
  private func drain(onQueue: Bool) {
    let thread = cplatform_thread_id()
    lock.withLock { state.pointee.threads.append(thread) }
    if cplatform_is_tracing() { TraceProbe.calloutBegins() }
    defer {
      if cplatform_is_tracing() { TraceProbe.calloutEnds() }
      lock.withLock {
        if let index = state.pointee.threads.firstIndex(of: thread) { state.pointee.threads.remove(at: index) }
      }
    }
    var left = Self.calloutLength
    while true {
      guard let job = next() else { return }
      left = run(job, left: left)
      if left <= 0, onQueue, !isPrivate {
        // Let the queue's other users have a turn; this callout stays out.
        callOut()
        return
      }
    }
  }

  private func run(_ first: Job, left: Int) -> Int {
    var left = left
    var next: Job? = first
    while let job = next {
      progress.wrappingAdd(1, ordering: .relaxed)
      next = job.run()
      left -= 1
      if let following = next, left <= 0 {
        submit(following)
        break
      }
    }
    return isPrivate && left <= 0 ? Self.calloutLength : left
  }

  /// The most urgent job; nil when there is none, or too many callouts are out: then this one is not out any more.
  private func next() -> Job? {
    for _ in 0..<Self.spinRounds {
      if queuedHint.load(ordering: .relaxed) > 0 { break }
      OwedReferences.settle()
      Spin.pause(Self.pausesPerRound)
    }
    return lock.withLock {
      if state.pointee.out <= allowed {
        for level in stride(from: 4, through: 0, by: -1) {
          let word = state.pointee.queues[level].popFirst()
          if word != 0 {
            state.pointee.queued -= 1
            queuedHint.store(state.pointee.queued, ordering: .relaxed)
            return Job(word: word)
          }
        }
      }
      state.pointee.out -= 1
      return nil
    }
  }

  /// Gives the place of the calling job to another callout; on a private queue to a thread of our own, because Dispatch
  /// may have none to spare.
  func whileBlocked(_ body: () -> Void) {
    lock.lock()
    state.pointee.blocked += 1
    let standIn = state.pointee.queued > 0 && state.pointee.out < allowed
    if standIn { state.pointee.out += 1 }
    lock.unlock()
    if standIn {
      if cplatform_is_tracing() { TraceProbe.addsSpares(1) }
      if !isPrivate
        || !PlatformThread.start(name: "dispatch-spare", { OwedReferences.allowed { self.drain(onQueue: false) } })
      {
        callOut()
      }
    }
    body()
    lock.withLock { state.pointee.blocked -= 1 }
  }
}
