import OperationBackends

/// What a user has chosen for the scheduler of a peer: the choices that are not the default, by the name of the
/// decision.
package struct PeerStrategy: StrategyValue {
  fileprivate var choices: [String: String] = [:]

  package init() {}
}

/// Something that the scheduler of a peer lets a user choose. The peer's program knows it under the same name.
package typealias PeerDecision = Decision<PeerStrategy>

extension PeerDecision {
  /// - Parameter usual: the choice of the default.
  private init(_ name: String, _ summary: String, usual: String, _ options: [Option]) {
    self.init(
      name: name, summary: summary,
      choices: options.map { option in
        Choice(option.text, option.summary, range: option.range) { strategy, number in
          let text = option.range == nil ? option.text : "\(number)"
          strategy.choices[name] = text == usual ? nil : text
        }
      },
      read: { $0.choices[name] ?? usual })
  }

  /// A word that can be chosen, or a number.
  private struct Option {
    let text: String
    let summary: String
    var range: ClosedRange<Int>?

    init(_ text: String, _ summary: String) { (self.text, self.summary) = (text, summary) }
    init(_ range: ClosedRange<Int>, _ summary: String) { (text, self.summary, self.range) = ("N", summary, range) }
  }
}

extension PeerDecision {
  static let openMPWait = PeerDecision(
    "wait", "how a thread of the team waits for tasks (OMP_WAIT_POLICY)", usual: "default",
    [
      Option("default", "it spins for a while and then sleeps"), Option("passive", "it sleeps soon"),
      Option("active", "it spins"),
    ])

  static let libgompSpin = PeerDecision(
    "spin", "for how many rounds of a loop a thread spins before it sleeps (GOMP_SPINCOUNT)", usual: "default",
    [
      Option("default", "as the decision wait and the number of CPUs say"),
      Option(0...1_000_000_000, "this many rounds"),
    ])

  static let libompBlocktime = PeerDecision(
    "blocktime", "for how many milliseconds a thread spins before it sleeps (KMP_BLOCKTIME)", usual: "200",
    [Option(0...1_000_000, "this many milliseconds")])

  static let libompSteal = PeerDecision(
    "steal", "what a thread may run while its task waits (KMP_TASK_STEALING_CONSTRAINT)", usual: "descendants",
    [
      Option("descendants", "tasks below the waiting task, as OpenMP demands of tied tasks"),
      Option("any", "every task"),
    ])

  static let libompThrottle = PeerDecision(
    "throttle", "what adding does when a thread's queue is full (KMP_ENABLE_TASK_THROTTLING)", usual: "on",
    [Option("on", "it runs the task at once"), Option("off", "it makes the queue longer")])

  static let libompTrees = PeerDecision(
    "trees", "how the tasks of forkjoin are marked", usual: "tied",
    [
      Option("tied", "a task stays on the thread that began it"),
      Option("untied", "the runtime may treat a task as bound to no thread"),
    ])

  static let starpuSched = PeerDecision(
    "sched", "the scheduling policy (STARPU_SCHED)", usual: "lws",
    [
      Option("lws", "a queue for each worker; steals from neighbours"),
      Option("ws", "a queue for each worker; steals from the one that has most"),
      Option("eager", "one queue for all workers"),
      Option("prio", "one queue for all workers, by priority"),
    ])

  static let starpuBind = PeerDecision(
    "bind", "whether a worker stays on one CPU (STARPU_WORKERS_NOBIND)", usual: "on",
    [Option("on", "each on its own"), Option("off", "the kernel moves workers")])

  static let starpuBackoff = PeerDecision(
    "backoff", "how long a worker without tasks pauses at most between two looks (STARPU_BACKOFF_MAX)", usual: "32",
    [Option(1...1_000_000, "this many rounds of a loop")])

  static let tokioLifo = PeerDecision(
    "lifo", "whether a worker has a slot for the task that runs next (disable_lifo_slot)", usual: "on",
    [
      Option("on", "what a task adds last runs next, and cannot be stolen from there"),
      Option("off", "what a task adds goes to the end of the worker's queue"),
    ])

  static let tokioGlobal = PeerDecision(
    "global", "how often a worker looks into the queue that all share (global_queue_interval)", usual: "default",
    [Option("default", "as Tokio chooses"), Option(1...1_000_000, "after this many tasks")])
}
