import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// The library's own threads for the questions that must not wait behind work: what a subclass posted, and whether
/// the dependents of an asynchronous operation are ready.
///
/// One thread *leads*: the leader runs the questions in order. A question runs a user's code, and that code may
/// block. So while questions wait behind a running one, a second thread *watches*. The watcher takes over the lead
/// when the leader has been at one question for a millisecond. A thread that lost the lead goes idle when its
/// question returns. Idle threads end after a second.
final class Examiner: @unchecked Sendable {
  // Sendable: the fields are constants, atomics, or guarded by `lock`.

  private final class Member: Sendable {
    let parker = Parker()
  }

  private enum Part { case leader, watcher }

  private struct State: ~Copyable {
    var questions = JobFIFO()
    /// The thread that runs the questions; nil while nobody leads.
    var leader: Member?
    /// When the leader began its present question, in nanoseconds.
    var began: UInt64 = 0
    var watcher: Member?
    /// The thread that went idle last is the last element.
    var idle: [Member] = []
    var threads = 0
  }

  private static let shared = Examiner()

  private let lock = Locked(State())

  private static let patience: UInt64 = 1_000_000
  private static let idleLifetime: Int64 = 1_000_000_000
  /// At this number no thread is added: nearly as many questions block, all of them in users' code. Further questions
  /// then wait their turn with other work.
  private static let threadLimit = 256
  /// Whether a message has said that questions wait with other work.
  private let saidElsewhere = Atomic<Bool>(false)

  private init() {
    cplatform_watch_fork()
  }

  // MARK: - Asking

  /// Runs `question` soon, on a thread that holds no lock of a user's. May be called on any thread. A driven backend
  /// has the question run where its own threads ask.
  static func submit(_ question: @escaping @Sendable () -> Void) {
    if let backend = DrivenBackends.here { backend.ask(Job(question)) } else { shared.submit(Job(question)) }
  }

  /// Asks operations without an unfinished dependency whether they are ready. The ready ones are handed over
  /// together.
  /// - Parameter place: a queue whose controller gives a place away when the controller has the ready operations.
  static func ask(_ operations: [Operation], place: OperationQueue?) {
    // Until they are handed over they are work of their backends: the finish that made them ready counts no longer.
    let backends = operations.compactMap { $0.lockedQueue?.supervisedBackend }
    for backend in backends { backend.countBegun() }
    submit {
      var handover = Handover(asks: .here, place: place.map { QueuePlace.freed(of: $0) })
      for operation in operations { operation.askReady(into: &handover) }
      handover.submit()
      withExtendedLifetime(place) {}
      for backend in backends { backend.countEnded() }
    }
  }

  private func submit(_ question: Job) {
    if cplatform_is_forked_child() {
      fatalError("Operations: an operation was used in a forked child without exec: the threads are in the parent")
    }
    lock.lock()
    lock.state.questions.append(question.word)
    if lock.state.leader == nil {
      appoint(.leader)
    } else if lock.state.watcher == nil {
      appoint(.watcher)
    } else {
      lock.unlock()
    }
  }

  /// Questions that were begun a millisecond ago or earlier, and have not returned.
  static var unanswered: Int { shared.unanswered }

  private var unanswered: Int {
    lock.withLock {
      let behind = lock.state.leader != nil && cplatform_now_ns() &- lock.state.began >= Self.patience
      let free = lock.state.idle.count + (lock.state.watcher == nil ? 0 : 1)
      // A thread that lost the lead has been at its question for that long.
      return max(0, lock.state.threads - free - (lock.state.leader == nil || behind ? 0 : 1))
    }
  }

  /// Called under `lock`; gives `lock` up. An idle or a new thread gets a free part. Without a thread for the part the
  /// questions go elsewhere: nobody would run them, or nobody would notice that the leader's question blocks.
  private func appoint(_ part: Part) {
    if let member = lock.state.idle.popLast() {
      take(part, member)
      lock.unlock()
      return member.parker.unpark()
    }
    guard lock.state.threads < Self.threadLimit else {
      return sendElsewhere("\(Self.threadLimit) reads of isReady or isFinished have not returned")
    }
    let member = Member()
    take(part, member)
    lock.state.threads += 1
    lock.unlock()
    if PlatformThread.start(name: "op-examiner", { self.work(member) }) { return }
    lock.lock()
    lock.state.threads -= 1
    if lock.state.watcher === member { lock.state.watcher = nil }
    if lock.state.leader === member { lock.state.leader = nil }
    sendElsewhere("the system refuses a thread for reads of isReady and isFinished")
  }

  /// Called under `lock`; gives `lock` up. Questions wait their turn with other work: the default backend tries again
  /// until it has a thread.
  private func sendElsewhere(_ reason: @autoclosure () -> String) {
    var left = JobFIFO()
    left.append(contentsOf: &lock.state.questions)
    lock.unlock()
    if left.isEmpty { return }
    if !saidElsewhere.exchange(true, ordering: .relaxed) {
      printError("\(reason()): further reads wait behind other work")
    }
    while case let question = left.popFirst(), question != 0 { DefaultBackend.backend.submit(Job(word: question)) }
  }

  private func take(_ part: Part, _ member: Member) {
    switch part {
    case .leader:
      lock.state.leader = member
      lock.state.began = cplatform_now_ns()
    case .watcher: lock.state.watcher = member
    }
  }

  // MARK: - A thread's life

  private func work(_ member: Member) {
    while true {
      lock.lock()
      if lock.state.leader === member {
        lead(member)
      } else if lock.state.watcher === member {
        watch(member)
      } else if !rest(member) {
        return
      }
    }
  }

  /// Called under `lock`; gives `lock` up. Runs one question, or ends the lead.
  private func lead(_ member: Member) {
    let question = lock.state.questions.popFirst()
    if question == 0 {
      lock.state.leader = nil
      return lock.unlock()
    }
    lock.state.began = cplatform_now_ns()
    if !lock.state.questions.isEmpty, lock.state.watcher == nil {
      appoint(.watcher)
    } else {
      lock.unlock()
    }
    _ = Job(word: question).run()
  }

  /// Called under `lock`; gives `lock` up. Takes one look at the leader.
  private func watch(_ member: Member) {
    let isBehind = cplatform_now_ns() &- lock.state.began >= Self.patience
    if lock.state.leader == nil || isBehind && !lock.state.questions.isEmpty {
      // A leader that loses the lead finds out when its question has been answered.
      lock.state.watcher = nil
      lock.state.leader = member
      lock.state.began = cplatform_now_ns()
      return lock.unlock()
    }
    if lock.state.questions.isEmpty {
      lock.state.watcher = nil
      return lock.unlock()
    }
    lock.unlock()
    member.parker.park(timeoutNanoseconds: Int64(Self.patience))
  }

  /// Called under `lock`; gives `lock` up. Returns false when the thread must end.
  private func rest(_ member: Member) -> Bool {
    lock.state.idle.append(member)
    lock.unlock()
    while !member.parker.park(timeoutNanoseconds: Self.idleLifetime) {
      lock.lock()
      if let index = lock.state.idle.firstIndex(where: { $0 === member }) {
        lock.state.idle.remove(at: index)
        lock.state.threads -= 1
        lock.unlock()
        return false
      }
      // This thread was appointed just now: the parker's token is on its way.
      lock.unlock()
    }
    return true
  }
}
