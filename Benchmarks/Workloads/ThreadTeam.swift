import Dispatch
import Glibc
import HarnessMeasuring
import HarnessWords

/// Threads outside the subject that act at the same time. The threads are created before anything is timed and sleep
/// between two uses, so the timed part contains waking the threads and not creating them.
final class ThreadTeam {
  /// The state that the threads share. The state outlives the team until the last thread has ended.
  private final class Shared: @unchecked Sendable {
    // `job` is written before the semaphores let the threads go, and not again until all threads have said that they
    // are done.
    var job: (@Sendable (Int) -> Void)?
    let go: [DispatchSemaphore]
    let done = DispatchSemaphore(value: 0)

    init(count: Int) { go = (0..<count).map { _ in DispatchSemaphore(value: 0) } }
  }

  private final class Member {
    let number: Int
    let shared: Shared

    init(number: Int, shared: Shared) {
      self.number = number
      self.shared = shared
    }

    func live() {
      while true {
        shared.go[number].wait()
        guard let job = shared.job else { return }
        job(number)
        shared.done.signal()
      }
    }
  }

  let count: Int
  private let shared: Shared
  private var threads: [pthread_t] = []

  init(count: Int) throws {
    self.count = count
    shared = Shared(count: count)
    for number in 0..<count {
      let member = Unmanaged.passRetained(Member(number: number, shared: shared)).toOpaque()
      var thread = pthread_t()
      let status = pthread_create(&thread, nil, Self.enter, member)
      guard status == 0 else {
        Unmanaged<Member>.fromOpaque(member).release()
        throw CheckFailed("thread \(number + 1) of \(count) cannot be created: \(String(cString: strerror(status)))")
      }
      threads.append(thread)
    }
    ThreadsCreated.exclude(count)
  }

  deinit {
    shared.job = nil
    for number in threads.indices { shared.go[number].signal() }
    for thread in threads { pthread_join(thread, nil) }
  }

  /// Runs the job once on every thread, with the thread's number, and returns when all threads have run the job.
  func run(_ job: @escaping @Sendable (_ thread: Int) -> Void) {
    shared.job = job
    for semaphore in shared.go { semaphore.signal() }
    for _ in 0..<count { shared.done.wait() }
  }

  private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { member in
    Unmanaged<Member>.fromOpaque(member!).takeRetainedValue().live()
    return nil
  }
}

/// Part number `part` of `count` things that are split into `parts`. The parts together are all things.
func slice(_ part: Int, of parts: Int, count: Int) -> Range<Int> { part * count / parts..<(part + 1) * count / parts }
