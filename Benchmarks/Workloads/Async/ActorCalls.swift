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
      // What the caller writes between two calls has to be written where the caller runs. Without that the compiler
      // leaves out the way back.
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

/// An actor that counts its calls.
private protocol Counting: Actor {
  var calls: Int { get set }
}

extension Counting {
  func reset() { calls = 0 }
  func count() { calls += 1 }
}

/// An actor that calls another one. What it counts has to be written where it runs: without that the compiler leaves
/// out the way back.
private protocol Calling: Actor {
  var made: Int { get set }
}

extension Calling {
  func call(_ tally: some Counting, _ times: Int) async -> Int {
    await tally.reset()
    made = 0
    while made < times {
      await tally.count()
      made += 1
    }
    return await tally.calls
  }
}

private actor Tally: Counting {
  var calls = 0
}

private actor Caller: Calling {
  var made = 0
}

private actor BoundTally: Counting {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  var calls = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }
}

private actor BoundCaller: Calling {
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  var made = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }
}
