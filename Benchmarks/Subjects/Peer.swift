import Synchronization

/// A scheduler of another language. Its benchmarks are a program from a folder under `Benchmarks/peers`.
/// `scripts/peers` builds the program when the toolchain is installed.
public struct Peer: Sendable {
  public let name: String
  public let summary: String
  /// The Debian packages that its program needs, for the line of advice to the user.
  public let packages: String
  /// The benchmarks that its program implements, as `family/benchmark`.
  public let benchmarks: Set<String>
  /// The reason why a benchmark is not among them, where the scheduler is the reason.
  public var reasons: [String: String] = [:]
  /// How its tasks of trees join, in the words of the parameter `join`.
  public var join = "fork"
  /// What its scheduler lets a user choose; empty where that is nothing.
  package var decisions: [PeerDecision] = []
  /// Whether it has graphs of its own that are made once and run often.
  package var keepsGraphs = false
  /// Whether `scripts/peers` builds it from a checkout of the user's, and from nothing else.
  package var needsCheckout = false
  /// Where the program is, for one of the user's; nil: `scripts/peers` builds it.
  package var program: String?

  /// The peers of this package, and behind them the programs that the user has named.
  public static var all: [Peer] { own + guests.withLock { $0 } }

  /// Set before the run is planned, and not changed since.
  private static let guests = Mutex<[Peer]>([])
  package static func welcome(_ guest: Peer) { guests.withLock { $0.append(guest) } }

  private static let own: [Peer] = [
    Peer(
      name: "tbb", summary: "C++: oneTBB's task_group", packages: tbbPackages,
      benchmarks: closures.union(batches).union(dependencies).union(recorded).union(trees)),
    Peer(
      name: "tbb-flow", summary: "C++: oneTBB's flow::graph, which has dependencies", packages: tbbPackages,
      benchmarks: dependencies.union(recorded), keepsGraphs: true),
    Peer(
      name: "openmp-gcc", summary: "C++: OpenMP's tasks with depend, on libgomp", packages: "g++",
      benchmarks: teams.union(dependencies).union(trees), reasons: outsideTeam,
      decisions: [.openMPWait, .libgompSpin]),
    Peer(
      name: "openmp-llvm", summary: "C++: OpenMP's tasks with depend, on libomp", packages: "clang and libomp-dev",
      benchmarks: teams.union(dependencies).union(trees), reasons: outsideTeam,
      decisions: [.openMPWait, .libompBlocktime, .libompSteal, .libompThrottle, .libompTrees]),
    Peer(
      name: "starpu", summary: "C++: StarPU's tasks, which have dependencies",
      packages: "libstarpu-dev, pkg-config and g++",
      benchmarks: closures.union(dependencies).union(trees).subtracting(notOnCounters.keys), reasons: notOnCounters,
      join: "counter", decisions: [.starpuSched, .starpuBind, .starpuBackoff]),
    Peer(
      name: "rayon", summary: "Rust: rayon's scope and join", packages: "librust-rayon-dev and cargo",
      benchmarks: closures.union(batches).union(dependencies).union(recorded).union(trees).union(loops)
        .union(requests)),
    Peer(
      name: "tokio", summary: "Rust: Tokio's runtime with several threads", packages: "librust-tokio-dev and cargo",
      benchmarks: closures.union(dependencies).union(recorded).union(trees).union(tasks).union(requests),
      decisions: [.tokioLifo, .tokioGlobal]),
    Peer(
      name: "go", summary: "Go: goroutines", packages: "python3-venv or golang-go",
      benchmarks: closures.union(dependencies).union(recorded).union(trees).union(tasks).union(requests)),
    Peer(
      name: "tbb-successors", summary: "C++: oneTBB's task_group with successors",
      packages: "g++ and python3-venv", benchmarks: dependencies),
    Peer(
      name: "java", summary: "Java: ForkJoinPool and virtual threads",
      packages: "openjdk-17-jdk-headless, gcc and python3-venv",
      benchmarks: closures.union(dependencies).union(trees).union(loops).union(tasks).union(["blocking/sleepers"])),
    Peer(
      name: "taskflow", summary: "C++: Taskflow's graphs, tasks and task groups", packages: "g++ and a checkout",
      benchmarks: closures.union(dependencies).union(recorded).union(trees).union(ranges), keepsGraphs: true,
      needsCheckout: true),
    Peer(
      name: "libfork", summary: "C++: libfork's coroutines",
      packages: "clang++, g++ and a checkout",
      benchmarks: closures.union(trees).union(ranges).subtracting(oneThreadSchedules.keys),
      reasons: oneThreadSchedules, needsCheckout: true),
    Peer(
      name: "citor", summary: "C++: citor's forkJoin and parallelFor", packages: "g++ and a checkout",
      benchmarks: trees.union(ranges), reasons: threadForEach, needsCheckout: true),
    Peer(
      name: "toomanycooks", summary: "C++: TooManyCooks' coroutines",
      packages: "clang++, g++ and a checkout", benchmarks: closures.union(batches).union(trees), needsCheckout: true),
    Peer(
      name: "zig", summary: "Zig: std.Io.Threaded, and a list of forks", packages: "python3-venv",
      benchmarks: closures.subtracting(onAnyThread.keys).union(dependencies).union(trees).union(loops).union(tasks),
      reasons: onAnyThread),
  ]

  private static let tbbPackages = "g++, and python3-venv or libtbb-dev"
  private static let closures: Set = ["overhead/external-add", "overhead/local-add", "overhead/contended-add"]
  private static let teams = closures.subtracting(outsideTeam.keys)
  private static let outsideTeam = [
    "overhead/contended-add": "a task of OpenMP belongs to the team of the thread that adds it"
  ]
  private static let onAnyThread = [
    "overhead/contended-add": "where its pool has no thread free, the thread that adds a task runs it"
  ]
  private static let batches: Set = ["overhead/external-batch"]
  private static let dependencies: Set = [
    "dependencies/chain", "dependencies/fan-in", "dependencies/fan-out", "dependencies/diamond", "dependencies/tree",
    "dependencies/graph", "dependencies/metg",
  ]
  /// Where a graph, or what counts its tasks by hand, can be kept for the next run.
  private static let recorded: Set = ["dependencies/recorded"]
  private static let trees: Set = [
    "forkjoin/fib", "forkjoin/skynet", "forkjoin/nqueens", "forkjoin/uts", "forkjoin/break-even",
  ]
  private static let ranges: Set = ["forkjoin/perform", "forkjoin/map"]
  private static let loops = ranges.union(["forkjoin/sort"])
  private static let tasks: Set = ["async/spawn", "async/fib", "async/limit"]
  /// Requests that arrive at a set pace.
  private static let requests: Set = ["latency/slowdown"]
  private static let oneThreadSchedules = [
    "overhead/contended-add": "only one thread at a time may schedule root tasks of libfork"
  ]
  private static let threadForEach = Dictionary(
    uniqueKeysWithValues: closures.map { ($0, "a task of citor that nobody waits for is a thread of its own") })
  private static let notOnCounters = ["forkjoin/break-even": "a task of StarPU cannot wait for another"]

  /// A program of the user's, by what it says of itself.
  package static func guest(
    _ name: String, program: String, version: String, benchmarks: Set<String>, join: String?
  ) -> Peer {
    var guest = Peer(name: name, summary: "a program of yours: \(version)", packages: "", benchmarks: benchmarks)
    (guest.join, guest.program) = (join ?? guest.join, program)
    return guest
  }

  private var forks: Bool { join == "fork" && !benchmarks.isDisjoint(with: Self.trees) }

  private var abilities: Abilities {
    var abilities: Abilities = .threads
    if forks { abilities.insert(.forks) }
    if keepsGraphs { abilities.insert(.recordedGraphs) }
    return abilities
  }

  /// What is measured with the requests of `latency/slowdown` alone.
  private static let overRequests: Set = ["latency/capacity", "latency/load", "crowd/requests"]

  public var info: SubjectInfo {
    let benchmarks = benchmarks.isDisjoint(with: Self.requests) ? benchmarks : benchmarks.union(Self.overRequests)
    return SubjectInfo(
      name: name, summary: summary, role: .peer, abilities: abilities,
      workersAreAdjustable: true, benchmarks: benchmarks, reasons: reasons,
      onlyParameters: ["join": [join], "beside": ["antagonist", "pool"]])
  }

  /// The peer of that name, without a strategy.
  package static func named(_ name: String) -> Peer? { all.first { $0.name == name } }
}
