import CPlatform
import Primitives
import Synchronization

/// Studies a run by the probes of tracing, instead of recording it: how often each kind of event comes, what the
/// backend's threads do between two events, and what the whole loses by a delay at one kind of event.
///
/// A study is a session of tracing without room for events. So a probe costs nothing more where nothing is studied.
package enum ProbeStudy {
  /// What a thread of a backend does.
  package enum Activity: Int, CaseIterable, Sendable {
    /// It runs a body.
    case body
    /// Between two jobs: it ends one, resolves what waits for it, and takes the next one.
    case between
    /// It looks for a job to take from another worker, and takes it.
    case steal
    /// It looks for a job and finds none, before it sleeps.
    case search
    /// It wakes another thread.
    case wake
    /// It sleeps, or has not started.
    case asleep
  }

  /// What a study has found.
  package struct Findings: Sendable {
    /// From the start of the study to its end, in nanoseconds.
    package var elapsed: UInt64 = 0
    /// The threads of backends that took part.
    package var threads = 0
    /// How long those threads did what, in nanoseconds. All together are `threads` times `elapsed`.
    package var times: [Activity: UInt64] = [:]
    package var counts: [TraceEvent.Kind: UInt64] = [:]
  }

  static let isOn = Atomic<Bool>(false)
  private static let began = Atomic<UInt64>(0)
  /// By the raw value of a kind, in nanoseconds.
  private static let delays = Words(TraceEvent.Kind.count)

  /// Atomic words, all 0 at first.
  struct Words: ~Copyable, @unchecked Sendable {
    // Sendable: the words are atomics, and the pointer is a constant.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ count: Int) {
      words = .allocate(capacity: count)
      for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
    }

    deinit { words.deallocate() }

    subscript(index: Int) -> UInt64 {
      get { words[index].load(ordering: .relaxed) }
      nonmutating set { words[index].store(newValue, ordering: .relaxed) }
    }
  }

  /// Begins a study, while nothing is traced. Each event of a kind waits, as a busy thread does, for its delay.
  package static func start(delays chosen: [TraceEvent.Kind: UInt64] = [:]) {
    for kind in 0..<TraceEvent.Kind.count { delays[kind] = 0 }
    for (kind, delay) in chosen { delays[Int(kind.rawValue)] = delay }
    isOn.store(true, ordering: .relaxed)
    began.store(cplatform_now_ns(), ordering: .relaxed)
    TraceSession.start(eventLimit: 0)
  }

  /// Ends the study. A thread that is in an event at this moment is counted up to its last event.
  package static func stop() -> Findings {
    let end = cplatform_now_ns()
    TraceSession.stop()
    isOn.store(false, ordering: .relaxed)
    var findings = Findings()
    findings.elapsed = end - began.load(ordering: .relaxed)
    TraceSession.visitBuffers { $0.studied.add(to: &findings, end: end) }
    return findings
  }

  /// What one thread has studied. Only that thread writes.
  struct Own: ~Copyable, Sendable {
    private let counts = Words(TraceEvent.Kind.count)
    private let times = Words(Activity.allCases.count)
    /// When the present activity began; 0 before the first event of a study.
    private let since = Atomic<UInt64>(0)
    private let activity = Atomic<Int>(Activity.asleep.rawValue)
    /// The activity in which the thread wakes another one.
    private let outer = Atomic<Int>(Activity.asleep.rawValue)
    /// Whether the thread is one of a backend's.
    private let isWorker = Atomic<Bool>(false)

    /// The owner's first event of a study.
    func begin() {
      for kind in 0..<TraceEvent.Kind.count { counts[kind] = 0 }
      for place in 0..<Activity.allCases.count { times[place] = 0 }
      since.store(ProbeStudy.began.load(ordering: .relaxed), ordering: .relaxed)
      activity.store(Activity.asleep.rawValue, ordering: .relaxed)
    }

    func note(_ event: TraceEvent) {
      let kind = Int(event.kind.rawValue)
      counts[kind] += 1
      change(event)
      let delay = delays[kind]
      guard delay > 0 else { return }
      let end = cplatform_now_ns() + delay
      while cplatform_now_ns() < end {}
    }

    private func change(_ event: TraceEvent) {
      var now = Activity(rawValue: activity.load(ordering: .relaxed))!
      let from = since.load(ordering: .relaxed)
      var done = now
      if now == .wake { now = Activity(rawValue: outer.load(ordering: .relaxed))! }
      let next: Activity
      switch event.kind {
      case .begins, .partBegins, .nodeBegins, .forkBegins, .taskBegins: next = .body
      case .finishesHere, .finishes, .returns, .skipped, .partEnds, .nodeEnds, .forkEnds, .taskEnds, .calloutBegins:
        next = .between
      case .steals:
        // What led to the theft was a search for it.
        if done == .between || done == .search { done = .steal }
        next = .steal
      case .parks:
        if done == .between { done = .search }
        next = .asleep
      case .unparks, .threadBegins: next = .search
      case .threadEnds, .calloutEnds: next = .asleep
      case .wakes:
        outer.store(now.rawValue, ordering: .relaxed)
        next = .wake
      case .text, .queue, .added, .edge, .edgeRemoved, .ready, .waits, .waited, .addsSpares, .taskReady, .taskFunction,
        .taskKnown:
        next = now
      }
      if [.begins, .parks, .unparks, .threadBegins, .calloutBegins].contains(event.kind) {
        isWorker.store(true, ordering: .relaxed)
      }
      times[done.rawValue] += event.time - min(from, event.time)
      since.store(event.time, ordering: .relaxed)
      activity.store(next.rawValue, ordering: .relaxed)
    }

    fileprivate func add(to findings: inout Findings, end: UInt64) {
      for kind in 0..<TraceEvent.Kind.count where counts[kind] > 0 {
        findings.counts[TraceEvent.Kind(rawValue: UInt8(kind))!, default: 0] += counts[kind]
      }
      guard isWorker.load(ordering: .relaxed) else { return }
      findings.threads += 1
      for place in Activity.allCases { findings.times[place, default: 0] += times[place.rawValue] }
      let last = since.load(ordering: .relaxed)
      findings.times[Activity(rawValue: activity.load(ordering: .relaxed))!, default: 0] += end - min(end, last)
    }
  }
}
