import Operations

/// Something that the scheduler of a peer lets a user choose. The peer's program knows it under the same name.
public struct PeerDecision: Hashable, Sendable {
  /// One thing that can be chosen.
  public struct Choice: Hashable, Sendable {
    /// A word such as `lws`, or `N` for a number.
    public let text: String
    /// What the choice does, in a few words.
    public let summary: String
    /// The numbers that may stand for N; nil for a word.
    public let range: ClosedRange<Int>?

    init(_ text: String, _ summary: String) { (self.text, self.summary, range) = (text, summary, nil) }
    init(_ range: ClosedRange<Int>, _ summary: String) {
      (text, self.summary, self.range) = ("N", summary, range)
    }

    var words: String { range.map { "\(text) (N from \($0.lowerBound) to \($0.upperBound))" } ?? text }
  }

  /// A short word, such as `sched`.
  public let name: String
  /// What is decided, in a few words.
  public let summary: String
  /// The choice of the default.
  public let usual: String
  public let choices: [Choice]

  init(_ name: String, _ summary: String, usual: String, _ choices: [Choice]) {
    (self.name, self.summary, self.usual, self.choices) = (name, summary, usual, choices)
  }

  /// What can be written behind `name=`, such as `default or N (N from 1 to 9)`.
  private var words: String {
    let all = choices.map(\.words)
    return all.count == 1 ? all[0] : all.dropLast().joined(separator: ", ") + " or " + all[all.count - 1]
  }

  /// A choice that is not the default, as an example.
  var example: String {
    let other = choices.first { $0.text != usual } ?? choices[0]
    return other.range.map { "\(min(max(8, $0.lowerBound), $0.upperBound))" } ?? other.text
  }

  /// Checks the text of a choice. A number comes back without needless characters.
  private func checked(_ text: Substring) throws(StrategyMistake) -> String {
    if let choice = choices.first(where: { $0.range == nil && $0.text == text }) { return choice.text }
    guard let range = choices.lazy.compactMap(\.range).first, let number = Int(text) else {
      throw StrategyMistake("'\(name)' has no choice '\(text)': it takes \(words)")
    }
    guard range.contains(number) else {
      throw StrategyMistake(
        "'\(name)=\(text)' is out of range: N takes numbers from \(range.lowerBound) to \(range.upperBound)")
    }
    return "\(number)"
  }

  /// Reads the text of a strategy: `name=choice` with `;` between. Gives the decisions that differ from the default, in
  /// their own order.
  static func strategy(_ text: String, _ decisions: [PeerDecision]) throws(StrategyMistake) -> String {
    var chosen: [String: String] = [:]
    for part in text.split(separator: ";", omittingEmptySubsequences: false) where !text.isEmpty {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else {
        let example = "\(decisions[0].name)=\(decisions[0].example)"
        throw StrategyMistake("'\(part)' is no decision: it takes name=choice, with ; between, such as \(example)")
      }
      guard let decision = decisions.first(where: { $0.name == sides[0] }) else {
        let names = decisions.map(\.name).joined(separator: ", ")
        throw StrategyMistake("there is no decision '\(sides[0])': there are \(names)")
      }
      guard chosen[decision.name] == nil else {
        throw StrategyMistake("'\(decision.name)' is given twice: it takes one choice")
      }
      chosen[decision.name] = try decision.checked(sides[1])
    }
    return decisions.compactMap { decision in
      guard let choice = chosen[decision.name], choice != decision.usual else { return nil }
      return "\(decision.name)=\(choice)"
    }.joined(separator: ";")
  }
}

extension PeerDecision {
  static let openMPWait = PeerDecision(
    "wait", "how a thread of the team waits for tasks (OMP_WAIT_POLICY)", usual: "default",
    [
      Choice("default", "it spins for a while and then sleeps"), Choice("passive", "it sleeps soon"),
      Choice("active", "it spins"),
    ])

  static let libgompSpin = PeerDecision(
    "spin", "for how many rounds of a loop a thread spins before it sleeps (GOMP_SPINCOUNT)", usual: "default",
    [
      Choice("default", "as the decision wait and the number of CPUs say"),
      Choice(0...1_000_000_000, "this many rounds"),
    ])

  static let libompBlocktime = PeerDecision(
    "blocktime", "for how many milliseconds a thread spins before it sleeps (KMP_BLOCKTIME)", usual: "200",
    [Choice(0...1_000_000, "this many milliseconds")])

  static let libompSteal = PeerDecision(
    "steal", "what a thread may run while its task waits (KMP_TASK_STEALING_CONSTRAINT)", usual: "descendants",
    [
      Choice("descendants", "tasks below the waiting task, as OpenMP demands of tied tasks"),
      Choice("any", "every task"),
    ])

  static let libompThrottle = PeerDecision(
    "throttle", "what adding does when a thread's queue is full (KMP_ENABLE_TASK_THROTTLING)", usual: "on",
    [Choice("on", "it runs the task at once"), Choice("off", "it makes the queue longer")])

  static let libompTrees = PeerDecision(
    "trees", "how the tasks of forkjoin are marked", usual: "tied",
    [
      Choice("tied", "a task stays on the thread that began it"),
      Choice("untied", "the runtime may treat a task as bound to no thread"),
    ])

  static let starpuSched = PeerDecision(
    "sched", "the scheduling policy (STARPU_SCHED)", usual: "lws",
    [
      Choice("lws", "a queue for each worker; steals from neighbours"),
      Choice("ws", "a queue for each worker; steals from the one that has most"),
      Choice("eager", "one queue for all workers"),
      Choice("prio", "one queue for all workers, by priority"),
    ])

  static let starpuBind = PeerDecision(
    "bind", "whether a worker stays on one CPU (STARPU_WORKERS_NOBIND)", usual: "on",
    [Choice("on", "each on its own"), Choice("off", "the kernel moves workers")])

  static let starpuBackoff = PeerDecision(
    "backoff", "how long a worker without tasks pauses at most between two looks (STARPU_BACKOFF_MAX)", usual: "32",
    [Choice(1...1_000_000, "this many rounds of a loop")])

  static let tokioLifo = PeerDecision(
    "lifo", "whether a worker has a slot for the task that runs next (disable_lifo_slot)", usual: "on",
    [
      Choice("on", "what a task adds last runs next, and cannot be stolen from there"),
      Choice("off", "what a task adds goes to the end of the worker's queue"),
    ])

  static let tokioGlobal = PeerDecision(
    "global", "how often a worker looks into the queue that all share (global_queue_interval)", usual: "default",
    [Choice("default", "as Tokio chooses"), Choice(1...1_000_000, "after this many tasks")])
}
