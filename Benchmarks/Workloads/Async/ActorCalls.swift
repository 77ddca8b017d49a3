import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Calls of an actor, one after the other.
///
/// * `call=preference`: a task that prefers the subject calls a default actor.
/// * `call=shared`: an actor calls another one that shares its serial executor.
/// * `call=other`: an actor calls another one with an executor of its own.
///
/// A subject without executors for actors has default actors in their place.
struct ActorCalls: Workload {
  let name = BenchmarkName("async", "actor")
  let summary =
    "calls of an actor: by a task that prefers the subject, on the caller's own serial executor, on another one"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks
  let repeats = RepeatPolicy.calibrated()
  let countsAllocations = true

  func parameterSets() -> [Parameters] { [] }
  func extendedParameterSets() -> [Parameters] {
    ["preference", "shared", "other"].map { ["call": $0, "ops": "10000"] }
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let calls = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let result = AsyncResult()
    let executor: (any TaskExecutor)?
    let round: @Sendable () async -> Void
    switch setting.parameters["call"] {
    case "preference":
      executor = subject.taskExecutor
      let tally = Tally()
      // What the caller writes between two calls has to be written where the caller runs. Without that the compiler leaves
      // out the way back.
      let flags = RunFlags(count: calls)
      round = {
        await tally.reset()
        for index in 0..<calls {
          await tally.count()
          flags.slot(index).mark()
        }
        result.value.store(await tally.calls, ordering: .relaxed)
      }
    case "shared", "other":
      executor = nil
      if let own = subject.makeActorExecutor() {
        let isShared = setting.parameters["call"] == "shared"
        guard let other = isShared ? own : subject.makeActorExecutor() else {
          throw CheckFailed("\(S.name) made one executor for actors and no second one")
        }
        let (caller, tally) = (BoundCaller(own), BoundTally(other))
        round = { result.value.store(await caller.call(tally, calls), ordering: .relaxed) }
      } else {
        let (caller, tally) = (Caller(), Tally())
        round = { result.value.store(await caller.call(tally, calls), ordering: .relaxed) }
      }
    default:
      throw Complaint(.usage, "call is preference, shared or other, not as in '\(setting.parameters)'")
    }
    return .task(of: calls, on: subject, executor: executor, round) {
      let counted = result.value.exchange(-1, ordering: .relaxed)
      guard counted == calls else { throw CheckFailed("an actor counted \(counted) of \(calls) calls") }
    }
  }
}

/// A default actor.
private actor Tally {
  private(set) var calls = 0

  func reset() { calls = 0 }
  func count() { calls += 1 }
}

private actor Caller {
  private var made = 0

  func call(_ tally: Tally, _ times: Int) async -> Int {
    await tally.reset()
    made = 0
    while made < times {
      await tally.count()
      made += 1
    }
    return await tally.calls
  }
}

/// An actor with the executor that it is given.
private actor BoundTally {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var calls = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func reset() { calls = 0 }
  func count() { calls += 1 }
}

private actor BoundCaller {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var made = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func call(_ tally: BoundTally, _ times: Int) async -> Int {
    await tally.reset()
    made = 0
    while made < times {
      await tally.count()
      made += 1
    }
    return await tally.calls
  }
}
