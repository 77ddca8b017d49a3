import Glibc
import Primitives
import Scheduling
import StealingBackend
import TestSupport
import Testing
import ThreadPoolBackend

@_spi(Jobs) @testable import OperationJobs
@testable import StealingBackend
@testable import VirtualScheduling

/// The real pools and the virtual one, side by side: both begin the same jobs in the same order, and count the same,
/// with every single change of a decision.
@Suite(.serialized) struct LockstepTests {
  @Test(arguments: allStrategies) func bothPoolsBeginTheSameJobs(_ strategy: VirtualStrategy) throws {
    for workers in 1...strategy.comparableWorkers {
      for seed in seeds(for: strategy, 1, of: 3) {
        let script = LockstepScript(
          workers: workers, rounds: strategy.hasRandomLists ? 1 : 3,
          usesOutside: !strategy.hasRandomLists && (workers == 1 || !strategy.hasRandomPlaces), seed: seed)
        try compare(script, strategy, "\(strategy), \(workers) workers, seed \(seed)")
      }
    }
  }

  /// Two workers are held that have a job of level 4 and three of level 2 each. A thief that leaves single jobs alone
  /// tries level 4 once. So the first job of level 2 is that of the worker behind the one visited first for level 4.
  @Test func aLevelThatGivesNoJobIsTriedOnce() throws {
    let strategy = try StealingStrategy("least=2;victim=roundrobin")
    let levels = [4, 2, 2, 2, 4, 2, 2, 2]
    let script = LockstepScript(
      workers: 3, works: levels.map { .init(level: $0) },
      rounds: [[.init(worker: 0, jobs: [0, 1, 2, 3]), .init(worker: 1, jobs: [4, 5, 6, 7])]])
    let virtual = script.run(on: .stealing(strategy), choices: VirtualChoices(seed: 1))
    let real = try RealRun(script, .stealing(strategy)).outcome()
    #expect(virtual.order.first == 5 && real.order.first == 5)
  }

  /// A real pool may be disturbed: the monitor may wake a thread just when the last job has been taken. A pool that
  /// decides otherwise does so every time.
  private func compare(_ script: LockstepScript, _ strategy: VirtualStrategy, _ what: String) throws {
    let expected = Self.places(strategy, script.workers).map { place in
      script.run(on: strategy, choices: VirtualChoices(replaying: place + Self.random(of: script.workers - 1)))
    }
    var outcome = LockstepOutcome()
    for _ in 0..<10 {
      outcome = try RealRun(script, strategy).outcome()
      if expected.contains(outcome) { return }
    }
    Issue.record("\(what): the real pool's \(outcome.difference(from: expected[0]))")
  }

  /// Where the first job from outside may go: that is random in a multi-queue, and the random number follows from the
  /// clock.
  private static func places(_ strategy: VirtualStrategy, _ workers: Int) -> [[Int]] {
    guard case .stealing(let chosen) = strategy else { return [[]] }
    let lists = chosen.priorities.listsPerWorker * workers
    return lists > 1 ? (0..<lists).map { [$0] } : [[]]
  }

  /// The random numbers of a worker of the real pool, as choices of the virtual one.
  private static func random(of worker: Int) -> [Int] {
    let worker = Worker(index: worker, fairnessInterval: 0, strategy: StealingStrategy())
    return (0..<20_000).map { _ in worker.random(below: 1 << 32) }
  }
}

extension VirtualStrategy {
  /// How many workers a script may have, so that the choices of the virtual pool are the random numbers of the real
  /// one. With three workers the worker that is robbed first is random. With two workers there is one to rob. Some
  /// virtual pools make further choices: among several threads that are woken, for a job from outside, between the
  /// monitor and a worker, and for a race that a thief may lose. A real thief that leaves workers alone draws a number
  /// at every look, and the clock says how often it looks.
  fileprivate var comparableWorkers: Int {
    if hasRandomLists { return 1 }
    switch self {
    case .stealing(let chosen):
      let hasOtherChoices =
        hasRandomPlaces || chosen.waking == .all || chosen.successor == .queued || chosen.lostRace == .next
      return hasOtherChoices || chosen.leastJobs > 1 ? 2 : 3
    case .threadPool(let chosen): return chosen.waking == .all ? 2 : 3
    }
  }

  /// Whether the list of each job is random.
  fileprivate var hasRandomLists: Bool {
    if case .stealing(let chosen) = self { chosen.priorities.listsPerWorker > 0 } else { false }
  }

  /// Whether the place of a job from outside is random.
  fileprivate var hasRandomPlaces: Bool {
    if case .stealing(let chosen) = self, case .leastLoaded = chosen.outsidePlace { true } else { false }
  }
}

/// A script on a real pool.
private final class RealRun: Sendable {
  private let script: LockstepScript
  private let backend: any Backend
  private let statistics: @Sendable () -> PoolStatistics
  private let shutDown: @Sendable () -> Void
  private let begun = EventLog<Int>()

  init(_ script: LockstepScript, _ strategy: VirtualStrategy) {
    self.script = script
    switch strategy {
    case .stealing(let chosen):
      let backend = StealingBackend(
        workers: script.workers, fairnessInterval: script.fairnessInterval, strategy: chosen)
      (self.backend, statistics, shutDown) = (backend, { backend.statistics }, { backend.shutdown() })
    case .threadPool(let chosen):
      let backend = ThreadPoolBackend(
        workers: script.workers, fairnessInterval: script.fairnessInterval, strategy: chosen)
      (self.backend, statistics, shutDown) = (backend, { backend.statistics }, { backend.shutdown() })
    }
  }

  func outcome() throws -> LockstepOutcome {
    defer { shutDown() }
    var held: [Holder] = []
    defer { for holder in held { holder.end() } }
    for _ in 1..<script.workers {
      held.append(try hold())
      try sleepOthers(awake: held.count)
    }
    var jobs = 0
    for round in script.rounds {
      let active = try hold()
      for handIn in round {
        guard let worker = handIn.worker else {
          submit(handIn.jobs, isTogether: handIn.isTogether)
          continue
        }
        try (worker < held.count ? held[worker] : active).perform { [self] in
          submit(handIn.jobs, isTogether: handIn.isTogether)
        }
      }
      jobs += round.reduce(0) { $0 + count($1.jobs) }
      active.end()
      try begun.wait(count: jobs, "the jobs of a round")
      try sleepOthers(awake: held.count)
    }
    return LockstepOutcome(order: begun.events, counts: statistics().workers)
  }

  /// How many jobs come of these.
  private func count(_ jobs: [Int]) -> Int {
    jobs.reduce(0) { sum, job in
      let work = script.works[job]
      return sum + 1 + count(work.adds) + count(work.successor.map { [$0] } ?? [])
    }
  }

  private func hold() throws -> Holder {
    let holder = Holder(level: LockstepScript.heldLevel)
    backend.submit(holder.job)
    try holder.waitForTheBegin()
    return holder
  }

  /// Waits until all threads sleep but those of the held workers.
  private func sleepOthers(awake: Int) throws {
    try wait("the threads without a job to sleep") {
      let now = statistics()
      return Int(now.threadsStarted) + Int(now.wakes) - Int(now.sleeps) == awake
    }
  }

  private func submit(_ jobs: [Int], isTogether: Bool) {
    if isTogether {
      var list = JobList()
      for job in jobs { list.fifo.append(make(job).word) }
      backend.submit(contentsOf: list)
    } else {
      for job in jobs { backend.submit(make(job)) }
    }
  }

  private func make(_ number: Int) -> Job {
    ScriptedJob.made(level: script.works[number].level) { [self] in
      begun.append(number)
      let work = script.works[number]
      submit(work.adds, isTogether: work.addsTogether)
      return work.successor.map { make($0) }
    }
  }
}

/// A job that leaves a successor.
package final class ScriptedJob: JobObject {
  private let body: @Sendable () -> Job?

  private init(level: Int, _ body: @escaping @Sendable () -> Job?) {
    self.body = body
    super.init()
    setLevel(level)
  }

  static func made(level: Int, _ body: @escaping @Sendable () -> Job?) -> Job {
    Job(owning: Unmanaged<JobObject>.passRetained(ScriptedJob(level: level, body)))
  }

  override package func runJob() -> JobOutcome { JobOutcome(next: body()?.word ?? 0, isReleased: true) }
}

/// Holds a worker, and does on its thread what it is told. The thread sleeps meanwhile, and passes for one without a
/// job: so no monitor takes it for one whose body blocks.
private final class Holder: Sendable {
  private enum State {
    case new, waits, ends
    case isTold(@Sendable () -> Void)
  }

  private let state = Monitor(State.new)
  private let level: Int

  init(level: Int) { self.level = level }

  private static func waits(_ state: State) -> Bool { if case .waits = state { true } else { false } }

  var job: Job {
    ScriptedJob.made(level: level) { [state] in
      let member = WorkerLocal.currentMember as! any PoolMember
      member.watched.becomeBusy(false)
      defer { member.watched.becomeBusy(true) }
      state.with { $0 = .waits }
      while state.wait(until: { !Self.waits($0) }), case .isTold(let task) = state.value {
        task()
        state.with { $0 = .waits }
      }
      return nil
    }
  }

  func waitForTheBegin() throws {
    guard state.wait(until: Self.waits) else { throw Self.lost("a worker to be held") }
  }

  /// Returns when the thread has done `task`.
  func perform(_ task: @escaping @Sendable () -> Void) throws {
    state.with { $0 = .isTold(task) }
    guard state.wait(until: Self.waits) else { throw Self.lost("a held thread") }
  }

  func end() { state.with { $0 = .ends } }

  private static func lost(_ what: String) -> TimedOut {
    TimedOut(what, seconds: patience, file: #fileID, line: #line)
  }
}

/// Looks again and again until `isSo`.
private func wait(_ what: String, until isSo: () -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(patience)
  while !isSo() {
    guard ContinuousClock.now < deadline else { throw TimedOut(what, seconds: patience, file: #fileID, line: #line) }
    usleep(20)
  }
}
