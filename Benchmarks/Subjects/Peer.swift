/// A scheduler of another language. Its benchmarks are a program from a folder under `Benchmarks/peers`.
/// `scripts/peers` builds the program when the toolchain is installed.
public struct Peer: Hashable, Sendable {
  public let name: String
  public let summary: String
  /// The Debian packages that its program needs, for the line of advice to the user.
  public let packages: String
  /// The benchmarks that its program implements, as `family/benchmark`.
  public let benchmarks: Set<String>

  public static let all: [Peer] = [
    Peer(
      name: "tbb", summary: "C++: oneTBB's task_group", packages: "libtbb-dev and g++",
      benchmarks: closures.union(batches).union(dependencies).union(trees)),
    Peer(
      name: "tbb-flow", summary: "C++: oneTBB's flow::graph, which has dependencies", packages: "libtbb-dev and g++",
      benchmarks: dependencies),
    Peer(
      name: "rayon", summary: "Rust: rayon's scope and join", packages: "librust-rayon-dev and cargo",
      benchmarks: closures.union(batches).union(dependencies).union(trees)),
    Peer(
      name: "go", summary: "Go: goroutines", packages: "golang-go",
      benchmarks: closures.union(dependencies).union(trees)),
  ]

  private static let closures: Set = ["overhead/external-add", "overhead/local-add", "overhead/contended-add"]
  private static let batches: Set = ["overhead/external-batch"]
  private static let dependencies: Set = [
    "dependencies/chain", "dependencies/fan-in", "dependencies/fan-out", "dependencies/diamond", "dependencies/tree",
    "dependencies/graph", "dependencies/metg",
  ]
  private static let trees: Set = ["forkjoin/fib", "forkjoin/skynet", "forkjoin/nqueens", "forkjoin/uts"]

  public var info: SubjectInfo {
    SubjectInfo(
      name: name, summary: summary, role: .peer, abilities: .threads, workersAreAdjustable: true,
      benchmarks: benchmarks)
  }
}
