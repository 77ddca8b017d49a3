/// Every benchmark: one line each, in the order in which they are shown.
public struct Catalogue: Sendable {
  public let workloads: [any Workload]

  /// `graphs` are the files that `dependencies/replay` replays; without any it generates one from the seed.
  public init(graphs: [String], seed: UInt64) throws {
    workloads = [
      ExternalAdd(),
      LocalAdd(),
      Chain(),
      FanIn(),
      GraphPatterns(),
      try Replay(graphs: graphs, seed: seed),
      RankError(),
      WaitByLevel(),
      ObserveRunning(),
      CancelAllPending(),
      LateStarts(),
    ]
  }
}
