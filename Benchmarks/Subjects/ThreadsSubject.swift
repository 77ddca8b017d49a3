import Glibc
import HarnessWords
import Synchronization

/// A POSIX thread for every closure, as in a program without a pool (`std::async`, a thread per request): what the
/// kernel's scheduler alone can do. At most 256 threads live at a time, so that the machine survives. A further closure
/// waits until a thread ends. The ending thread then starts the thread of the closure that has waited longest.
public final class ThreadsSubject: ClosureSubject {
  public static var name: String { "threads" }
  public static var summary: String { "a POSIX thread per closure, at most \(mostThreads) at a time" }
  public static var role: SubjectRole { .reference }
  public static var workersAreAdjustable: Bool { false }

  static let mostThreads = 256
  private static let stackBytes = 256 * 1024

  private struct State {
    var live = 0
    var waiting: [@Sendable () -> Void] = []
    /// The number of closures in `waiting` that have been taken.
    var taken = 0

    /// The next closure, for the thread that ends. When there is none, the number of live threads falls by one.
    mutating func next() -> (@Sendable () -> Void)? {
      guard taken < waiting.count else {
        live -= 1
        return nil
      }
      defer {
        taken += 1
        if taken == waiting.count {
          waiting.removeAll(keepingCapacity: true)
          taken = 0
        }
      }
      return waiting[taken]
    }
  }

  private let outstanding = Outstanding()
  private let state = Mutex(State())

  public init(workers: Int) {}

  public func submit(_ body: @escaping @Sendable () -> Void) {
    outstanding.enter()
    let startsNow = state.withLock { state in
      if state.live < Self.mostThreads {
        state.live += 1
        return true
      }
      state.waiting.append(body)
      return false
    }
    if startsNow { start(body) }
  }

  public func drain() { outstanding.wait() }

  private func start(_ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, Self.stackBytes)
    let box = Unmanaged.passRetained(ThreadBody(self, body)).toOpaque()
    var thread = pthread_t()
    while true {
      let status = pthread_create(&thread, &attributes, { ThreadBody.enter($0) }, box)
      if status == 0 { break }
      // The system has no thread to give at the moment, and another thread is about to end.
      precondition(status == EAGAIN, "no thread can be created: \(String(cString: strerror(status)))")
      usleep(500)
    }
    pthread_attr_destroy(&attributes)
  }

  fileprivate func run(_ body: @Sendable () -> Void) {
    body()
    let next = state.withLock { $0.next() }
    if let next { start(next) }
    outstanding.leave()
  }
}

/// The closure that a thread runs first, and its subject.
private final class ThreadBody {
  private let subject: ThreadsSubject
  private let body: @Sendable () -> Void

  init(_ subject: ThreadsSubject, _ body: @escaping @Sendable () -> Void) {
    self.subject = subject
    self.body = body
  }

  static func enter(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let thread = Unmanaged<ThreadBody>.fromOpaque(box!).takeRetainedValue()
    thread.subject.run(thread.body)
    return nil
  }
}
