import HarnessMeasuring
import HarnessWords
import Subjects

/// The Fibonacci number by its recursive definition. Every call is a task with hardly any work, so the benchmark shows
/// the cost of a task.
struct Fib: Workload {
  let name = BenchmarkName("forkjoin", "fib")
  let summary = "the n-th Fibonacci number by recursion, every call a task"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread

  func parameterSets() -> [Parameters] {
    [["n": "15", "join": "fork"], ["n": "25", "join": "fork"], ["n": "15", "join": "counter"]]
  }
  func extendedParameterSets() -> [Parameters] {
    [
      ["n": "32", "join": "fork"], ["n": "20", "join": "counter"], ["n": "25", "join": "counter"],
      ["n": "10", "join": "dependency"],
    ]
  }
  /// Each of the larger trees has at least 100 times as many tasks as the one before.
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    switch parameters["n"] {
    case "25": .calibrated(seconds: 0.02)
    case "32": .calibrated(seconds: 1)
    default: repeats
    }
  }
  func needs(_ parameters: Parameters) -> Abilities { ForkJoinTrial<FibTree>.needs(parameters) }

  func peerInput(_ setting: Setting) throws -> PeerInput { .tree(FibTree(n: try setting.integer("n"))) }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(FibTree(n: try setting.integer("n"))).closures(subject, setting)
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(FibTree(n: try setting.integer("n"))).operations(subject, setting)
  }
}

/// fib(n) = fib(n-1) + fib(n-2): a sum over the leaves, each of which contributes its own number.
struct FibTree: BinaryTree {
  let n: Int

  var root: Int { n }

  var expected: Int {
    var (current, next) = (0, 1)
    for _ in 0..<n { (current, next) = (next, current + next) }
    return current
  }

  func value(of node: Int) -> Int { node < 2 ? node : 0 }
  func childCount(of node: Int) -> Int { node < 2 ? 0 : 2 }

  func children(of node: Int) -> (Int, Int) { (node &- 1, node &- 2) }

  func forkedSum<S: ClosureSubject>(of node: Int, on subject: S.Type) -> Int {
    if node < 2 { return node }
    let (first, second) = S.fork({ forkedSum(of: node &- 1, on: S.self) }, { forkedSum(of: node &- 2, on: S.self) })
    return first &+ second
  }
}
