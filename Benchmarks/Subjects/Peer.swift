/// A scheduler of another language. Its benchmarks are a program under `Benchmarks/peers/<folder>`, which `scripts/peers`
/// builds where the toolchain is installed.
public struct Peer: Hashable, Sendable {
  public let name: String
  public let summary: String
  /// What its program needs from Debian, for the line that says how to get it.
  public let packages: String

  public static let all: [Peer] = [
    Peer(name: "tbb", summary: "C++: oneTBB's task_group", packages: "libtbb-dev and g++"),
    Peer(name: "rayon", summary: "Rust: rayon's scope and join", packages: "librust-rayon-dev and cargo"),
    Peer(name: "go", summary: "Go: goroutines", packages: "golang-go"),
  ]

  /// What every peer's program implements.
  public static let benchmarks: Set<String> = [
    "overhead/external-add", "overhead/local-add", "dependencies/chain", "dependencies/fan-in", "dependencies/graph",
    "dependencies/metg", "forkjoin/fib", "forkjoin/skynet", "forkjoin/nqueens", "forkjoin/uts",
  ]

  public var info: SubjectInfo {
    SubjectInfo(
      name: name, summary: summary, role: .peer, abilities: .threads, workersAreAdjustable: true,
      benchmarks: Self.benchmarks)
  }
}
