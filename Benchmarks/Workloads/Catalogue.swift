import HarnessMeasuring
import HarnessWords

/// Every benchmark: one line each, in the order of the listings.
package struct Catalogue: Sendable {
  package let workloads: [any Workload]

  /// All benchmarks. `graphs` are the files that `dependencies/replay` replays. Without files, `dependencies/replay`
  /// generates a workflow from the seed.
  package init(graphs: [String], seed: UInt64) throws {
    workloads = Self.made(try Replay(graphs: graphs, seed: seed))
  }

  package func metrics(of name: BenchmarkName) -> [Metric] { workloads.first { $0.name == name }?.metrics ?? [] }

  /// One benchmark, in the process that measures it. Nothing is read or generated for other benchmarks. Nil when there
  /// is no such benchmark.
  package static func workload(_ name: BenchmarkName, context: String, seed: UInt64) throws -> (any Workload)? {
    if name == DescribedLoad.name { return DescribedLoad(try LoadDescription.read(path: context)) }
    let replay = name == Replay.name ? try Replay(graphs: RunContext(context).graphs, seed: seed) : nil
    return made(replay).first { $0.name == name }
  }

  private static func made(_ replay: Replay?) -> [any Workload] {
    let replays: [any Workload] = replay.map { [$0] } ?? []
    return [
      Construct(),
      ManualStart(),
      ExternalAdd(),
      ExternalBatch(),
      LocalAdd(),
      ContendedAdd(),
      WithPriority(),
      WithCompletion(),
      Limited(),
      ManyQueues(),
      Chain(),
      FanOut(),
      FanIn(),
      Diamond(),
      Tree(),
      Barrier(),
      GraphPatterns(),
      RandomDAG(),
      RecordedGraph(),
      MinimumGranularity(),
    ] + replays + [
      RankError(),
      Inversion(),
      WaitByLevel(),
      Starvation(),
      SubmitterFairness(),
      ObserveRunning(),
      CancelAllPending(),
      LateStarts(),
      ThroughChain(),
      ThroughTree(),
      Storm(),
      WakeIdle(),
      WakeBusy(),
      PingPong(),
      OpenLoop(),
      Capacity(),
      Capacity(isCurve: true),
      Fib(),
      Skynet(),
      NQueens(),
      UnbalancedTreeSearch(),
      ForkBreakEven(),
      Steal(),
      ConcurrentPerform(),
      ConcurrentMap(),
      ConcurrentSort(),
      SpawnTasks(),
      AsyncFib(),
      ActorCalls(),
      Hop(),
      AwaitOperations(),
      LimitTasks(),
      CancelTasks(),
      VisibleTasks(),
      OpenLoop(runsTasks: true),
      Sleepers(),
      NestedWait(),
      IdleCPU(),
      Crowded(),
      TreePeak(),
      Burst(),
      Pipeline(),
      Urgent(),
      OneProducer(),
      OneLock(),
      WaitingParents(),
    ]
  }
}
