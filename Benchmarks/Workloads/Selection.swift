import HarnessMeasuring
import HarnessPlanning
import HarnessWords
import Subjects

/// The choices of the user, checked, and made into a plan.
package struct Selection: Sendable {
  /// The names given with `--backend`.
  package var names: [String]
  package var benchmark: String?
  /// Whether the variants of the benchmarks run too. Variants take too long to run unasked.
  package var variants = false
  /// The worker counts; nil: one worker per CPU that this process may use.
  package var workers: [Int]?
  package var effort: Effort
  package var seed: UInt64
  /// The allocator of the timed processes.
  package var allocator = Allocator.system
  /// How long starting a process takes, in seconds.
  package var startup = Plan.usualStartup
  /// Whether the time of the goal is the user's. Another goal's time is for three arms, and more arms have more in
  /// proportion.
  package var isTimeGiven = false
  package var peers: PeerPrograms

  package init(
    names: [String], benchmark: String?, workers: [Int]?, effort: Effort, seed: UInt64,
    peers: PeerPrograms = .found()
  ) {
    (self.peers, self.names, self.benchmark) = (peers, names, benchmark)
    (self.workers, self.effort, self.seed) = (workers, effort, seed)
  }

  package func plan(_ catalogue: Catalogue) throws -> Plan {
    let subjects = try subjects()
    let arms = arms(subjects)
    let chosen = try chosen(catalogue)
    var effort = effort
    if !isTimeGiven { effort.goal?.seconds *= max(1, Double(arms.count) / 3) }
    func fitted(_ choices: [BenchmarkChoice]) -> Plan {
      Plan(
        scenarios: choices.flatMap { scenarios($0, arms) }.filter { !$0.arms.isEmpty }, effort: effort, seed: seed,
        allocator: allocator, startup: startup
      ).fitted
    }
    var plan = fitted(chosen)
    let whole = fitted(chosen.map(\.withVariants))
    let planned = Set(plan.scenarios.map(\.scenario))
    plan.leftOut = LeftOut(
      whole.scenarios.map(\.scenario).filter { !planned.contains($0) }, seconds: whole.estimatedSeconds)
    return plan
  }

  /// The plan of one benchmark, which need not be in the catalogue: without references.
  package func plan(of workload: any Workload) throws -> Plan {
    let arms = arms(try subjects(withReferences: false))
    let choice = BenchmarkChoice(workload, parameterSets: workload.parameterSets(), variants: [])
    return Plan(
      scenarios: scenarios(choice, arms).filter { !$0.arms.isEmpty }, effort: effort, seed: seed, allocator: allocator,
      startup: startup)
  }

  /// The plan of an ablation: the first subject against each of the others, without references. Scenarios without a
  /// time to compare, and subjects that cannot run all that the first can, have no place in it. Allocations are not
  /// counted.
  package func ablation(_ catalogue: Catalogue) throws -> Plan {
    let subjects = try subjects(withReferences: false)
    let arms = arms(subjects)
    let planned = try chosen(catalogue).flatMap { scenarios($0, arms) }.filter {
      $0.arms.count > 1 && Metric.primaryTime(of: catalogue.metrics(of: $0.scenario.name)) != nil
    }
    guard !planned.isEmpty else {
      throw Complaint(.usage, "'\(benchmark ?? "")' matches no benchmark that has a time and runs on \(names[0])")
    }
    var plan = Plan(
      scenarios: planned.map(\.withoutCounting), effort: effort, seed: seed, allocator: allocator, startup: startup)
    plan.isAblation = true
    return plan
  }

  private func scenarios(_ choice: BenchmarkChoice, _ arms: [(info: SubjectInfo, arm: Arm)]) -> [PlannedScenario] {
    let workload = choice.workload
    return choice.parameterSets.map { parameters in
      let capable = arms.filter { workload.obstacle($0.info, parameters) == nil && !isMissing($0.info) }
      return PlannedScenario(
        scenario: Scenario(workload.name, parameters), arms: capable.map(\.arm),
        incapable: arms.map(\.arm).filter { !capable.map(\.arm).contains($0) }, repeats: workload.repeats(parameters),
        headlines: workload.headlines, countsAllocations: workload.countsAllocations,
        uncounted: capable.filter { $0.info.role == .peer }.map(\.arm),
        notes: workload.notes(parameters, workers: capable.first?.arm.workers ?? CPUs.available),
        timeLimit: workload.timeLimit, leadIn: workload.leadIn)
    }
  }

  /// The named subjects in the given order, without repetition, and the references that run beside them. Names may be
  /// separated by commas.
  package func subjects(withReferences: Bool = true) throws -> [SubjectInfo] {
    let known = SubjectRegistry.all
    let asked = names.flatMap(SubjectVariant.names)
    var chosen: [SubjectInfo] = []
    for name in asked {
      if name == "all" {
        chosen += known
      } else if let subject = try subject(name) {
        chosen.append(subject)
      } else {
        let all = known.map(\.name) + ["all"]
        throw Complaint(.usage, "there is no subject '\(name)'\(Suggestion.words(for: name, among: all))")
      }
    }
    guard !chosen.isEmpty else {
      throw Complaint(.usage, "--backend needs a name: \(known.map(\.name).joined(separator: ", ")), or all")
    }
    if chosen.allSatisfy(isMissing) {
      throw Complaint(.usage, chosen.map { PeerPrograms.advice($0.name) }.joined(separator: "; "))
    }
    if withReferences { chosen += known.filter { SubjectRegistry.references.contains($0.name) } }
    return chosen.enumerated().filter { index, subject in !chosen[..<index].contains(subject) }.map(\.element)
  }

  private func subject(_ name: String) throws -> SubjectInfo? {
    do {
      return try SubjectRegistry.subject(name)
    } catch {
      throw Complaint(.usage, "--backend '\(name)': \(error)")
    }
  }

  /// The peers that were asked for and are not built. Their cells stay empty.
  package func missingPeers() throws -> [String] { try subjects().filter(isMissing).map(\.name) }

  /// A line for each reason why subjects can run none of the benchmarks. Throws when this leaves nothing but the
  /// references.
  package func leftOut(_ catalogue: Catalogue) throws -> [String] {
    let chosen = try chosen(catalogue)
    let subjects = try subjects()
    var left: [(reason: String, subjects: [String])] = []
    for subject in subjects {
      guard let reason = Self.obstacle(subject, chosen) else { continue }
      if let index = left.firstIndex(where: { $0.reason == reason }) {
        left[index].subjects.append(subject.name)
      } else {
        left.append((reason, [subject.name]))
      }
    }
    let what = chosen.count == 1 ? "\(chosen[0].workload.name)" : "any of these benchmarks"
    func lines(_ isShown: (String) -> Bool) -> [String] {
      left.filter { $0.subjects.contains(where: isShown) }.map { reason, subjects in
        "\(subjects.filter(isShown).joined(separator: ", ")) cannot run \(what): \(reason)"
      }
    }
    let isAsked = { (name: String) in !SubjectRegistry.references.contains(name) }
    let asked = subjects.map(\.name).filter(isAsked)
    if !asked.isEmpty, asked.allSatisfy(left.flatMap(\.subjects).contains) {
      throw Complaint(.usage, "nothing to measure: \(lines(isAsked).joined(separator: "; "))")
    }
    return lines { _ in true }
  }

  /// Why a subject can run none of the benchmarks; nil when the subject can run one.
  private static func obstacle(_ subject: SubjectInfo, _ chosen: [BenchmarkChoice]) -> String? {
    var reasons: [String] = []
    for choice in chosen {
      for parameters in choice.parameterSets {
        guard let reason = choice.workload.obstacle(subject, parameters) else { return nil }
        if !reasons.contains(reason) { reasons.append(reason) }
      }
    }
    return reasons.joined(separator: ", ")
  }

  private func isMissing(_ subject: SubjectInfo) -> Bool {
    subject.role == .peer && peers.program(subject.name) == nil
  }

  private func arms(_ subjects: [SubjectInfo]) -> [(info: SubjectInfo, arm: Arm)] {
    let counts = workers ?? [CPUs.available]
    return subjects.flatMap { subject in
      (subject.workersAreAdjustable ? counts : [CPUs.available]).map {
        (subject, Arm(subject: subject.name, workers: $0))
      }
    }
  }

  /// The benchmarks that the expression asks for; without an expression, every benchmark. A benchmark that has nothing
  /// but variants has no place in a run of everything. The variants run when the expression asks for that benchmark.
  private func chosen(_ catalogue: Catalogue) throws -> [BenchmarkChoice] {
    let choices = try BenchmarkChoice.all(catalogue, matching: benchmark, option: "--benchmark")
      .map { variants || benchmark != nil && $0.hasOnlyVariants ? $0.withVariants : $0 }
    guard choices.contains(where: { !$0.parameterSets.isEmpty }) else {
      let names = choices.map { "\($0.workload.name)" }.joined(separator: ", ")
      throw Complaint(
        .usage, "'\(benchmark ?? "")' matches only variants, of \(names); \(LeftOut.option) runs them")
    }
    return choices
  }
}
