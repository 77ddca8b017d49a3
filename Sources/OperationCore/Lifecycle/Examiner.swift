import CPlatform
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
  // Sendable: `state` is touched under `lock`.

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

  private let lock = FutexLock()
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  private static let patience: UInt64 = 1_000_000
  private static let idleLifetime: Int64 = 1_000_000_000
  /// At this number no thread is added: nearly as many questions block, all of them in users' code. Further questions
  /// then wait their turn with other work.
  private static let threadLimit = 256
  /// Whether a message has said that questions wait with other work.
  private let saidElsewhere = Atomic<Bool>(false)

  private init() {
    state.initialize(to: State())
    cplatform_watch_fork()
  }

  // MARK: - Asking

  /// Runs `question` soon, on a thread that holds no lock of a user's. May be called on any thread.
  static func submit(_ question: @escaping @Sendable () -> Void) { shared.submit(Job(question)) }

  /// Asks operations without an unfinished dependency whether they are ready. The ready ones are handed over
  /// together.
  /// - Parameter place: a queue whose controller gives a place away when the controller has the ready operations.
  static func ask(_ operations: [Operation], place: OperationQueue?) {
    submit {
      var batch = ReadyBatch(asks: .here, place: place.map { Unmanaged.passUnretained($0) })
      for operation in operations { operation.askReady(into: &batch) }
      batch.submit()
      withExtendedLifetime(place) {}
    }
  }

  private func submit(_ question: Job) {
    if cplatform_is_forked_child() {
      fatalError("Operations: an operation was used in a forked child without exec: the threads are in the parent")
    }
    lock.lock()
    state.pointee.questions.append(question.word)
    if state.pointee.leader == nil {
      appoint(.leader)
    } else if state.pointee.watcher == nil {
      appoint(.watcher)
    } else {
      lock.unlock()
    }
  }

  /// Questions that were begun a millisecond ago or earlier, and have not returned.
  static var unanswered: Int { shared.unanswered }

  private var unanswered: Int {
    lock.withLock {
      let state = state
      let behind = state.pointee.leader != nil && cplatform_now_ns() &- state.pointee.began >= Self.patience
      let free = state.pointee.idle.count + (state.pointee.watcher == nil ? 0 : 1)
      // A thread that lost the lead has been at its question for that long.
      return max(0, state.pointee.threads - free - (state.pointee.leader == nil || behind ? 0 : 1))
    }
  }

  /// Called under `lock`; gives `lock` up. An idle or a new thread gets a free part. Without a thread for the part the
  /// questions go elsewhere: nobody would run them, or nobody would notice that the leader's question blocks.
  private func appoint(_ part: Part) {
    if let member = state.pointee.idle.popLast() {
      take(part, member)
      lock.unlock()
      return member.parker.unpark()
    }
    guard state.pointee.threads < Self.threadLimit else {
      return sendElsewhere("\(Self.threadLimit) reads of isReady or isFinished have not returned")
    }
    let member = Member()
    take(part, member)
    state.pointee.threads += 1
    lock.unlock()
    if PlatformThread.start(name: "op-examiner", { self.work(member) }) { return }
    lock.lock()
    state.pointee.threads -= 1
    if state.pointee.watcher === member { state.pointee.watcher = nil }
    if state.pointee.leader === member { state.pointee.leader = nil }
    sendElsewhere("the system refuses a thread for reads of isReady and isFinished")
  }

  /// Called under `lock`; gives `lock` up. Questions wait their turn with other work: the default backend tries again
  /// until it has a thread.
  private func sendElsewhere(_ reason: @autoclosure () -> String) {
    var left = JobFIFO()
    left.append(contentsOf: &state.pointee.questions)
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
      state.pointee.leader = member
      state.pointee.began = cplatform_now_ns()
    case .watcher: state.pointee.watcher = member
    }
  }

  // MARK: - A thread's life

  private func work(_ member: Member) {
    while true {
      lock.lock()
      if state.pointee.leader === member {
        lead(member)
      } else if state.pointee.watcher === member {
        watch(member)
      } else if !rest(member) {
        return
      }
    }
  }

  /// Called under `lock`; gives `lock` up. Runs one question, or ends the lead.
  private func lead(_ member: Member) {
    let question = state.pointee.questions.popFirst()
    if question == 0 {
      state.pointee.leader = nil
      return lock.unlock()
    }
    state.pointee.began = cplatform_now_ns()
    if !state.pointee.questions.isEmpty, state.pointee.watcher == nil {
      appoint(.watcher)
    } else {
      lock.unlock()
    }
    _ = Job(word: question).run()
  }

  /// Called under `lock`; gives `lock` up. Takes one look at the leader.
  private func watch(_ member: Member) {
    let isBehind = cplatform_now_ns() &- state.pointee.began >= Self.patience
    if state.pointee.leader == nil || isBehind && !state.pointee.questions.isEmpty {
      // A leader that loses the lead finds out when its question has been answered.
      state.pointee.watcher = nil
      state.pointee.leader = member
      state.pointee.began = cplatform_now_ns()
      return lock.unlock()
    }
    if state.pointee.questions.isEmpty {
      state.pointee.watcher = nil
      return lock.unlock()
    }
    lock.unlock()
    member.parker.park(timeoutNanoseconds: Int64(Self.patience))
  }

  /// Called under `lock`; gives `lock` up. Returns false when the thread must end.
  private func rest(_ member: Member) -> Bool {
    state.pointee.idle.append(member)
    lock.unlock()
    while !member.parker.park(timeoutNanoseconds: Self.idleLifetime) {
      lock.lock()
      if let index = state.pointee.idle.firstIndex(where: { $0 === member }) {
        state.pointee.idle.remove(at: index)
        state.pointee.threads -= 1
        lock.unlock()
        return false
      }
      // This thread was appointed just now: the parker's token is on its way.
      lock.unlock()
    }
    return true
  }
}
