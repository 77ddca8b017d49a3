import Operations
import TestSupport

/// One round: producers, couriers and disturbers at work on fresh queues, then everything drained and checked.
struct StressRound {
  let profile: StressProfile
  let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    profile = StressProfile(seed: seed)
  }

  struct Outcome {
    var violations: [String]
    var history: RoundHistory
  }

  /// - Throws: when something hangs.
  func run(on backend: any Backend) throws -> Outcome {
    // Not the generator that drew the profile: the two sequences would be the same.
    var random = SeededGenerator(seed: seed ^ 0xC2B2_AE3D_27D4_EB4F)
    let context = makeContext(backend, &random)
    let recent = RecentOperations(random: random.split())
    var history = RoundHistory()
    do {
      let barriers = try work(context, recent, &random, into: &history)
      try drain(context)
      try settle(context, recent)
      history.barriers = barriers.map(\.entry)
    } catch let error as TimedOut {
      throw StressHang(reason: error.description, state: stateDescription(context))
    }
    history.operations = context.records.map(\.entry)
    // A record holds its observation, whose handler holds the record.
    for record in context.records { record.token = nil }
    return Outcome(violations: context.violations.all + history.violations(), history: history)
  }

  private func makeContext(_ backend: any Backend, _ random: inout SeededGenerator) -> RoundContext {
    let other: any Backend = profile.usesTwoBackends ? OperationQueue().backend : backend
    let queues = profile.queues.enumerated().map { index, profile in
      let chosen = index == 1 ? other : backend
      return QueueUnderTest(
        random.chance(50) ? OperationQueue(backend: chosen) : StressQueue(backend: chosen), index: index,
        profile: profile)
    }
    let quiet = StressProfile.QueueProfile(
      isLimited: false, hasBarriers: false, isSuspendedNowAndThen: false, isCancelled: false)
    return RoundContext(
      couriers: Couriers(threads: 2, random: &random), queues: queues,
      nested: QueueUnderTest(OperationQueue(backend: other), index: queues.count, profile: quiet))
  }

  /// Ends when the producers have added everything and the disturbers have let go.
  /// - Returns: the barriers that were added, which may still have to run.
  private func work(
    _ context: RoundContext, _ recent: RecentOperations, _ random: inout SeededGenerator,
    into history: inout RoundHistory
  ) throws -> [BarrierRecord] {
    let producersLeft = CountdownLatch(profile.producers)
    let disturbers = CountdownLatch(context.queues.count)
    let finished = Monitor<[Chaos]>([])
    for place in context.queues {
      var chaos = Chaos(place, context, recent, random.split())
      chaos.prepare()
      let prepared = chaos
      startThread {
        var chaos = prepared
        chaos.run { producersLeft.remaining <= 0 }
        let done = chaos
        finished.with { $0.append(done) }
        disturbers.countDown()
      }
    }
    for _ in 0..<profile.producers {
      let producer = Producer(context, profile, recent, random.split())
      startThread {
        var producer = producer
        producer.run()
        producersLeft.countDown()
      }
    }
    try producersLeft.wait("the producers")
    try disturbers.wait("the disturbers")
    let all = finished.with { $0.sorted { $0.place.index < $1.place.index } }
    for chaos in all {
      history.limitChanges += chaos.limitChanges
      history.suspensions += chaos.suspensions
      history.cancelAlls += chaos.cancelAlls
    }
    return all.flatMap(\.barriers)
  }

  private func drain(_ context: RoundContext) throws {
    if profile.releasesQueuesEarly {
      for place in context.queues { place.release() }
      return
    }
    for place in context.queues {
      let queue = place.queue
      try inTime("queue \(place.index) to drain") { queue.waitUntilAllOperationsAreFinished() }
      context.violations.require(
        queue.operationCount == 0, "operationCount is \(queue.operationCount) when all have finished")
      context.violations.require(queue.operations.isEmpty, "operations is not empty when all have finished")
    }
  }

  /// Nothing more happens afterwards: completion blocks have run, operations and queues are deallocated.
  private func settle(_ context: RoundContext, _ recent: RecentOperations) throws {
    recent.clear()
    for place in context.queues { place.release() }
    let records = context.records
    try eventually("completion blocks and deallocation of all operations") {
      records.allSatisfy(\.isSettled)
    }
    context.nested.release()
    try eventually("deallocation of the queues") {
      context.nested.isDeallocated && context.queues.allSatisfy(\.isDeallocated)
    }
    try context.couriers.close()
  }

  private func stateDescription(_ context: RoundContext) -> String {
    // What hangs explains the rest: first those that began and did not end, then those that did not begin.
    let open = context.records.filter { !$0.isSettled }.sorted { $0.stage < $1.stage }
    let known = context.violations.all.map { "\n  noticed: \($0)" }.joined()
    return open.prefix(10).map { "\n  \($0.stateDescription)" }.joined()
      + (open.count > 10 ? "\n  and \(open.count - 10) more" : "") + known
  }
}

/// A round that did not come to an end; what it left behind cannot be cleaned up.
struct StressHang: Error {
  let reason: String
  let state: String
}

extension OperationRecord {
  /// 0 between begin and end, 1 before the begin, 2 after the end.
  fileprivate var stage: Int {
    if end.load(ordering: .relaxed) > 0 { return 2 }
    return begin.load(ordering: .relaxed) > 0 ? 0 : 1
  }

  private var expectedObservations: Int { token == nil || kind == .phantom ? 0 : 1 }

  /// Its completion block and its observer were called as often as they should be, and it is deallocated.
  var isSettled: Bool {
    releases.load(ordering: .relaxed) > 0 && observations.load(ordering: .relaxed) >= expectedObservations
      && completions.load(ordering: .relaxed) >= (expectsCompletion ? 1 : 0)
  }

  var stateDescription: String {
    "\(self): queue \(queue.map(String.init) ?? "none"), added \(addEnd.load(ordering: .relaxed)), began "
      + "\(begin.load(ordering: .relaxed)), ended \(end.load(ordering: .relaxed)), completion blocks "
      + "\(completions.load(ordering: .relaxed)) of \(expectsCompletion ? 1 : 0), observations "
      + "\(observations.load(ordering: .relaxed)) of \(expectedObservations), released "
      + "\(releases.load(ordering: .relaxed)), waits for \(dependencies)"
  }

  var entry: RoundHistory.OperationEntry {
    RoundHistory.OperationEntry(
      id: id, kind: kind, queue: queue, dependencies: dependencies, addStart: addStart.load(ordering: .relaxed),
      addEnd: addEnd.load(ordering: .relaxed), begins: begins.load(ordering: .relaxed),
      begin: begin.load(ordering: .relaxed), end: end.load(ordering: .relaxed),
      wasFinished: wasFinished.load(ordering: .relaxed), wasCancelled: wasCancelled.load(ordering: .relaxed),
      cancelStart: cancelStart.load(ordering: .relaxed),
      pendingAfterCancel: pendingAfterCancel.load(ordering: .relaxed),
      runningAtBegin: runningAtBegin.load(ordering: .relaxed), expectsCompletion: expectsCompletion,
      completions: completions.load(ordering: .relaxed), completion: completion.load(ordering: .relaxed),
      isObserved: token != nil, observations: observations.load(ordering: .relaxed))
  }
}

extension BarrierRecord {
  var entry: RoundHistory.Barrier {
    RoundHistory.Barrier(
      queue: queue, addStart: addStart.load(ordering: .relaxed), addEnd: addEnd.load(ordering: .relaxed),
      begins: begins.load(ordering: .relaxed), begin: begin.load(ordering: .relaxed),
      end: end.load(ordering: .relaxed))
  }
}
