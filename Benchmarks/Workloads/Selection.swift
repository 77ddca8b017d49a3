import Harness
import Subjects

/// What the user asked for, checked, and made into a plan.
package struct Selection: Sendable {
  package var backends: [String]
  package var benchmark: String?
  /// Nil: one worker per CPU this process may use.
  package var workers: [Int]?
  package var effort: Effort
  package var seed: UInt64
  /// What the timed processes run on.
  package var allocator = Allocator.system
  /// What starting a process takes, in seconds.
  package var startup = Plan.usualStartup
  /// What the run may take by the estimate, in seconds for every three arms; nil: as long as the effort takes.
  package var budget: Double?
  package var peers: PeerPrograms

  package init(
    backends: [String], benchmark: String?, workers: [Int]?, effort: Effort, seed: UInt64,
    peers: PeerPrograms = .found()
  ) {
    self.peers = peers
    self.backends = backends
    self.benchmark = benchmark
    self.workers = workers
    self.effort = effort
    self.seed = seed
  }

  package func plan(_ catalogue: Catalogue) throws -> Plan {
    let subjects = try subjects()
    let arms = try arms(subjects)
    let scenarios = try chosen(catalogue).flatMap { workload, parameterSets in
      parameterSets.map { parameters in
        let capable = arms.filter { workload.obstacle($0.info, parameters) == nil && !isMissing($0.info) }
        return PlannedScenario(
          scenario: Scenario(workload.name, parameters), arms: capable.map(\.arm),
          incapable: arms.map(\.arm).filter { !capable.map(\.arm).contains($0) }, repeats: workload.repeats(parameters),
          headlines: workload.headlines, countsAllocations: workload.countsAllocations,
          uncounted: capable.filter { $0.info.role == .peer }.map(\.arm),
          notes: workload.notes(parameters, workers: capable.first?.arm.workers ?? CPUs.available),
          timeLimit: workload.timeLimit)
      }
    }
    let plan = Plan(
      scenarios: scenarios.filter { !$0.arms.isEmpty }, effort: effort, seed: seed,
      allocator: allocator, startup: startup)
    return budget.map { plan.fitted(seconds: $0 * max(1, Double(arms.count) / 3)) } ?? plan
  }

  /// The named subjects in the order given, without repetition, and the references beside them. Names may be
  /// separated by commas.
  func subjects() throws -> [SubjectInfo] {
    let known = SubjectRegistry.all
    let asked = backends.flatMap { $0.split(separator: ",").map { String($0.drop { $0 == " " }) } }
    var chosen: [SubjectInfo] = []
    for name in asked {
      if name == "all" {
        chosen += known
      } else if let subject = known.first(where: { $0.name == name }) {
        chosen.append(subject)
      } else {
        let names = known.map(\.name) + ["all"]
        throw Complaint(.usage, "there is no backend '\(name)'\(Suggestion.words(for: name, among: names))")
      }
    }
    guard !chosen.isEmpty else {
      throw Complaint(.usage, "--backend needs a name: \(known.map(\.name).joined(separator: ", ")), or all")
    }
    if chosen.allSatisfy(isMissing) {
      throw Complaint(.usage, chosen.map { PeerPrograms.advice($0.name) }.joined(separator: "; "))
    }
    chosen += known.filter { SubjectRegistry.references.contains($0.name) }
    return chosen.enumerated().filter { index, subject in !chosen[..<index].contains(subject) }.map(\.element)
  }

  /// The peers that were asked for and are not built: their cells stay empty.
  package func missingPeers() throws -> [String] { try subjects().filter(isMissing).map(\.name) }

  private func isMissing(_ subject: SubjectInfo) -> Bool {
    subject.role == .peer && peers.program(subject.name) == nil
  }

  private func arms(_ subjects: [SubjectInfo]) throws -> [(info: SubjectInfo, arm: Arm)] {
    let counts = workers ?? [CPUs.available]
    guard !counts.isEmpty, counts.allSatisfy({ 1...1_024 ~= $0 }) else {
      throw Complaint(.usage, "--workers takes counts from 1 to 1024, such as 1,2,4")
    }
    let distinct = counts.enumerated().filter { !counts[..<$0].contains($1) }.map(\.element)
    return subjects.flatMap { subject in
      (subject.workersAreAdjustable ? distinct : [CPUs.available]).map {
        (subject, Arm(subject: subject.name, workers: $0))
      }
    }
  }

  /// The benchmarks whose name matches, with all their parameters; those of which only `name parameters` matches, with
  /// the parameters that do. Without an expression, everything that the default run measures.
  private func chosen(_ catalogue: Catalogue) throws -> [(workload: any Workload, parameterSets: [Parameters])] {
    guard let benchmark else { return catalogue.workloads.map { ($0, $0.parameterSets()) } }
    guard let expression = try? Regex(benchmark) else {
      throw Complaint(.usage, "--benchmark '\(benchmark)' is not a regular expression")
    }
    let chosen = catalogue.workloads.map { workload in
      let all = workload.parameterSets() + workload.extendedParameterSets()
      let matching = all.filter { "\(workload.name) \($0)".contains(expression) }
      return (workload: workload, parameterSets: "\(workload.name)".contains(expression) ? all : matching)
    }.filter { !$0.parameterSets.isEmpty }
    guard !chosen.isEmpty else {
      let names = catalogue.workloads.map { "\($0.name)" }.joined(separator: ", ")
      throw Complaint(
        .usage, "no benchmark matches '\(benchmark)', neither by name nor by 'name key=value;…'; there are \(names)")
    }
    return chosen
  }
}
