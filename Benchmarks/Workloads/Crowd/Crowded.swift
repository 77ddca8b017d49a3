import Glibc
import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects
import Synchronization

/// What else runs on the machine does to a subject.
///
/// Requests that each take half a millisecond arrive at `load` per cent of what the CPUs can do, for `phase_ms`
/// alone, as long beside a crowd, and as long alone again. `beside` says what the crowd is. `workers=followed` makes
/// the subject, and another instance of it, without a number of workers, so that both follow the CPUs. Then a batch
/// runs beside the same crowd. Its makespan is compared with a fair share of the CPUs: what the kernel gives `workers`
/// threads beside those of the crowd.
struct Crowded: Workload {
  enum Beside: String, CaseIterable {
    /// Another instance of the subject, with as many workers, that always has jobs.
    case pool
    /// Another queue on the same threads, that always has jobs.
    case queue
    /// One busy thread of the program.
    case thread
    /// Another program: a busy process for each CPU, each of which comes and goes.
    case antagonist
    /// A quota of the cgroup: half of the CPUs.
    case quota
    /// An affinity mask with half of the CPUs.
    case affinity
  }

  let name = BenchmarkName("crowd", "requests")
  let summary = "tails of requests, and the makespan of a batch, beside other work or on fewer CPUs"
  let metrics = Self.tails + [Self.overFair, Self.recovery, Self.threadsLeft, Self.cpuOverWork]
  let headlines = [Self.tails[1], Self.overFair]
  let needs = Abilities.threads
  let repeats = RepeatPolicy.once(seconds: 4)

  /// Of the requests that arrived before the crowd, beside it, and after it.
  private static let tails = ["before", "beside", "after"].map { Metric("sojourn_\($0)_p99_ns", unit: "ns") }
  private static let overFair = Metric("makespan_over_fair_share", unit: "ratio")
  /// From the end of the crowd until the last request arrived whose sojourn was more than twice the p99 from before.
  private static let recovery = Metric("recovery_ns", unit: "ns")
  private static let threadsLeft = Metric("threads_left", unit: "threads")
  /// The CPU time of the process without a busy thread of the crowd, over that of all bodies.
  private static let cpuOverWork = Metric("cpu_over_work", unit: "ratio")

  func needs(_ parameters: Parameters) -> Abilities {
    var all = needs
    if parameters["workers"] == "followed" { all.insert(.following) }
    if parameters["beside"] == Beside.queue.rawValue { all.formUnion([.operations, .queues]) }
    return all
  }

  func extendedParameterSets() -> [Parameters] {
    ["given", "followed"].flatMap { workers in
      Beside.allCases.filter { workers == "given" || $0 != .queue }.map { parameters($0, load: 33, workers) }
        // Nearly all of what is left.
        + [Beside.quota, .affinity].map { parameters($0, load: 45, workers) }
    }
  }

  private func parameters(_ beside: Beside, load: Int, _ workers: String) -> Parameters {
    ["beside": beside.rawValue, "load": "\(load)", "phase_ms": "600", "workers": workers]
  }

  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    .once(seconds: (4 + Self.rest) * (parameters.number("phase_ms") ?? 600) / 1e3)
  }

  fileprivate static let service = 500e3
  private static let batch = 400
  /// How long threads have to end that nobody needs, in phases. With the usual phase that is longer than a surplus
  /// thread of ours sleeps.
  private static let rest = 2.0

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    try trial(setting) { workers in
      (S(workers: workers), { S(workers: workers) })
    }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    guard setting.parameters["beside"] == Beside.queue.rawValue else { return try prepare(closures: type, setting) }
    return try trial(setting) { workers in
      let queues = S.queues(2, workers: workers)
      return (queues[0], { queues[1] })
    }
  }

  /// What the parameters say.
  private struct Asked {
    let beside: Beside
    /// In nanoseconds.
    let phase: Double
    let load: Double

    init(_ setting: Setting) throws {
      guard let beside = setting.parameters["beside"].flatMap(Beside.init(rawValue:)) else {
        let all = Beside.allCases.map(\.rawValue).joined(separator: ", ")
        throw Complaint(.usage, "beside is one of \(all), not as in '\(setting.parameters)'")
      }
      (self.beside, phase, load) = (beside, try setting.number("phase_ms") * 1e6, try setting.number("load"))
      guard phase > 0 else { throw Complaint(.usage, "phase_ms is above 0, not \(phase / 1e6)") }
      guard load > 0, load <= 100 else { throw Complaint(.usage, "load is above 0 and up to 100, not \(load)") }
    }

    /// The mean distance of two requests, in nanoseconds.
    var interval: Double { Crowded.service * 100 / (load * Double(CPUs.online)) }

    /// The requests of the three phases.
    func stream(seed: UInt64) -> RequestStream {
      RequestStream(
        services: Array(repeating: Crowded.service, count: Int(3 * phase / interval)), spacing: .exponential,
        seed: seed)
    }

    /// The tails before, beside and after the crowd, and the time to recover.
    func found(_ sojourns: [Double], offset: (Int) -> Double) -> (tails: [Double], recovery: Double) {
      let tails = [0.0..<1, 1..<2, 2..<3].map { phases in
        let own = sojourns.indices.filter { phases.contains(offset($0) / phase) }.map { sojourns[$0] }.sorted()
        return own.isEmpty ? 0 : Statistics.percentile(0.99, ofSorted: own)
      }
      let late = sojourns.indices.last { offset($0) >= 2 * phase && sojourns[$0] > 2 * tails[0] }
      return (tails, late.map { offset($0) - 2 * phase } ?? 0)
    }
  }

  /// - Parameter make: makes the subject, with a function that gives another instance.
  private func trial<S: ClosureSubject>(
    _ setting: Setting, make: (_ workers: Int) -> (subject: S, other: () -> S)
  ) throws -> Trial {
    let asked = try Asked(setting)
    let phase = asked.phase
    Pacer.sharpen()
    // The process is in its group before the subject counts the CPUs.
    let group = asked.beside == .quota ? try QuotaGroup() : nil
    let workers = setting.parameters["workers"] == "followed" ? 0 : setting.workers
    let (subject, other) = make(workers)
    let crowd = Crowd<S>(asked.beside, setting, group, other)
    // All values have the same requests beside the same crowd, and so have peers.
    let seed = setting.seed &+ 1
    return Trial(operationsPerRepeat: 1) { _ in
      try crowd.gather(seed: seed)
      defer { crowd.disperse() }
      let threads = Threads.all().count
      let cpu = Clock.processCPU()
      let requests = ServedRequests(asked.stream(seed: seed), every: asked.interval, spin: setting.spin)
      var (isBegun, isOver) = (false, false)
      let sent = try requests.send(isWhole: true) { request in
        let time = requests.offset(request)
        if !isBegun, time >= phase {
          isBegun = true
          try crowd.begin()
        }
        if !isOver, time >= 2 * phase {
          isOver = true
          try crowd.end()
        }
        subject.submit { requests.serve(request) }
      }
      if isBegun, !isOver { try crowd.end() }
      subject.drain()
      let (tails, recovery) = asked.found(try requests.sojourns(), offset: requests.offset)
      let batch = try Self.makespan(subject, crowd, setting)
      try checkEmpty(subject.unfinished ?? 0)
      let work = Self.service * Double(sent + Self.batch + crowd.bodies)
      let used = Double(Clock.processCPU() - cpu) - crowd.cpu
      Pacer.sleep(nanoseconds: UInt64(Self.rest * phase))
      let left = Threads.all().count - max(threads, setting.workers + 1)
      let found = tails + [batch, recovery, Double(max(0, left)), used / work]
      (crowd.cpu, crowd.bodies) = (0, 0)
      return Value(zip(metrics, found).map { Reading($0, $1, count: sent) })
    }
  }

  /// The makespan of a batch beside the crowd, over that on a fair share of the CPUs.
  private static func makespan<S: ClosureSubject>(
    _ subject: S, _ crowd: Crowd<S>, _ setting: Setting
  ) throws -> Double {
    let rounds = setting.spin.rounds(nanoseconds: service)
    try crowd.begin()
    let start = Clock.now()
    for _ in 0..<batch { subject.submit { Spin.run(rounds: rounds) } }
    subject.drain()
    let elapsed = Double(Clock.now() - start)
    let share = fairShare(crowd.beside, workers: setting.workers, wanted: try crowd.end() / elapsed)
    return elapsed / (service * Double(batch) / share)
  }

  /// How long the program of a peer has to start and to read its requests, in nanoseconds.
  private static let headStart: UInt64 = 500_000_000

  /// What the process of the program itself would say, its threads and its CPU time, is not measured.
  func peerInput(_ setting: Setting) throws -> PeerInput {
    let asked = try Asked(setting)
    guard [.antagonist, .pool].contains(asked.beside) else {
      throw Complaint(.usage, "programs of other languages are measured beside=antagonist and beside=pool")
    }
    let seed = setting.seed &+ 1
    let workers = setting.workers
    return PeerInput(search: { ask in
      let requests = PeerRequests(asked.stream(seed: seed), every: asked.interval)
      let antagonist = asked.beside == .antagonist ? try BusyProcesses(CPUs.online, seed: seed) : nil
      /// - Returns: how many CPUs the crowd wanted on average, too.
      func sojourns(_ requests: PeerRequests, crowd: Range<Double>) throws -> (sojourns: [Double], wanted: Double) {
        let start = Clock.now() + Self.headStart
        let window = start + UInt64(crowd.lowerBound)..<start + UInt64(crowd.upperBound)
        antagonist?.begin(window)
        let readings = try ask(requests.input(start: start, crowd: antagonist == nil ? (window, Self.service) : nil))
        let sojourns = try requests.sojourns(ofOneRepeat: readings)
        let end = Clock.now()
        guard end >= start + UInt64(requests.offsets.last ?? 0) else {
          throw CheckFailed("the program ended before its last request came: it does not know the argument start")
        }
        guard antagonist != nil || readings.contains(where: { $0.metric == Self.crowdJobs && $0.value > 0 }) else {
          throw CheckFailed(
            "the program reports no jobs of another instance (crowd_jobs): it does not know the argument crowd_from")
        }
        let wanted = try antagonist?.end() ?? 0
        return (sojourns, Double(wanted) / Double(end - min(end - 1, window.lowerBound)))
      }
      let phases = try sojourns(requests, crowd: asked.phase..<2 * asked.phase).sojourns
      let (tails, recovery) = asked.found(phases) { requests.offsets[$0] }
      let batch = PeerRequests(atOnce: Array(repeating: Self.service, count: Self.batch))
      let beside = try sojourns(batch, crowd: 0..<1e12)
      let elapsed = beside.sojourns.max()!
      let share = Self.fairShare(asked.beside, workers: workers, wanted: beside.wanted)
      let found = tails + [elapsed / (Self.service * Double(Self.batch) / share), recovery]
      return zip(metrics, found).map { Reading($0, $1, count: phases.count) }
    })
  }

  /// How many CPUs are fair: what the kernel gives, where each thread that wants a CPU gets as much.
  /// - Parameter wanted: how many CPUs the threads and processes of a crowd want on average, that is no pool.
  fileprivate static func fairShare(_ beside: Beside, workers: Int, wanted: Double) -> Double {
    let (cpus, threads) = (Double(CPUs.online), Double(min(workers, CPUs.online)))
    return switch beside {
    case .pool, .queue: min(threads, cpus / 2)
    case .thread, .antagonist: min(threads, cpus * threads / max(cpus, threads + wanted))
    case .quota, .affinity: min(threads, Double(half))
    }
  }

  fileprivate static var half: Int { max(1, CPUs.online / 2) }

  /// How many jobs the other instance in a program has run.
  private static let crowdJobs = Metric("crowd_jobs", unit: "jobs")
}

/// The work beside a subject.
private final class Crowd<S: ClosureSubject> {
  let beside: Crowded.Beside
  private let workers: Int
  private let rounds: Int
  private let group: QuotaGroup?
  private let makeOther: () -> S
  private var antagonist: BusyProcesses?
  private var busy: BusyThreads?
  private var other: Flood<S>?
  /// The CPU time that a busy thread has used, in nanoseconds, and the bodies that another instance has run.
  var (cpu, bodies) = (0.0, 0)

  init(_ beside: Crowded.Beside, _ setting: Setting, _ group: QuotaGroup?, _ makeOther: @escaping () -> S) {
    (self.beside, workers, self.group, self.makeOther) = (beside, setting.workers, group, makeOther)
    rounds = setting.spin.rounds(nanoseconds: Crowded.service)
  }

  /// Starts what would disturb if it began with the crowd.
  func gather(seed: UInt64) throws {
    if beside == .antagonist { antagonist = try BusyProcesses(CPUs.online, seed: seed) }
  }

  func disperse() { antagonist = nil }

  func begin() throws {
    switch beside {
    case .pool, .queue: other = Flood(makeOther(), 2 * workers, rounds: rounds)
    case .thread: busy = BusyThreads(1)
    case .antagonist: antagonist!.begin()
    case .quota: try group!.grant(Double(Crowded.half))
    case .affinity: try CPUs.limit(to: Crowded.half)
    }
  }

  /// - Returns: for how long the crowd wanted a CPU, in nanoseconds over all of its threads and processes.
  @discardableResult
  func end() throws -> Double {
    defer { (busy, other) = (nil, nil) }
    switch beside {
    case .pool, .queue: bodies += other!.end()
    case .antagonist: return Double(try antagonist!.end())
    case .thread:
      let used = busy!.end()
      cpu += Double(used.cpu)
      return Double(used.wanted)
    case .quota: try group!.grant(nil)
    case .affinity: try CPUs.limit(to: nil)
    }
    return 0
  }
}

/// Another instance of the subject, that always has jobs.
private final class Flood<S: ClosureSubject>: @unchecked Sendable {
  // Sendable: the fields are constants or atomics.
  private let subject: S
  private let rounds: Int
  private let isOver = Atomic<Bool>(false)
  private let ran = Atomic<Int>(0)

  init(_ subject: S, _ jobs: Int, rounds: Int) {
    (self.subject, self.rounds) = (subject, rounds)
    for _ in 0..<jobs { add() }
  }

  private func add() {
    subject.submit { [self] in
      Spin.run(rounds: rounds)
      ran.wrappingAdd(1, ordering: .relaxed)
      if !isOver.load(ordering: .relaxed) { add() }
    }
  }

  /// - Returns: how many bodies ran.
  func end() -> Int {
    isOver.store(true, ordering: .relaxed)
    subject.drain()
    return ran.load(ordering: .relaxed)
  }
}
