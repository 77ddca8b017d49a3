/// Every benchmark: one line each, in the order in which they are shown.
package struct Catalogue: Sendable {
  package let workloads: [any Workload]

  /// `graphs` are the files that `dependencies/replay` replays; without any it generates one from the seed.
  package init(graphs: [String], seed: UInt64) throws {
    workloads = [
      Construct(),
      ManualStart(),
      ExternalAdd(),
      ExternalBatch(),
      LocalAdd(),
      ContendedAdd(),
      WithPriority(),
      WithCompletion(),
      Limited(),
      Chain(),
      FanOut(),
      FanIn(),
      Diamond(),
      Tree(),
      Barrier(),
      GraphPatterns(),
      RandomDAG(),
      MinimumGranularity(),
      try Replay(graphs: graphs, seed: seed),
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
      Fib(),
      Skynet(),
      NQueens(),
      UnbalancedTreeSearch(),
      Sleepers(),
      NestedWait(),
      IdleCPU(),
    ]
  }
}
