import LaboratorySupport
import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// The programs themselves, where they are built.
struct BuiltPeerTests {
  static let cases: [(peer: String, name: BenchmarkName, parameters: Parameters)] =
    (try? Catalogue(graphs: [], seed: 1).workloads)?.filter {
      !($0 is MinimumGranularity) && !($0 is ForkBreakEven) && !searches.contains("\($0.name)")
    }
    .flatMap { workload in
      (workload.parameterSets().isEmpty ? workload.extendedParameterSets() : workload.parameterSets()).flatMap {
        parameters in
        Peer.all.filter { workload.obstacle($0.info, parameters) == nil }
          .map {
            // At a low load, requests of a millisecond take ten seconds.
            let small = workload is Capacity ? WorkloadTests.small(workload, parameters) : parameters
            return (peer: $0.name, name: workload.name, parameters: small)
          }
      }
    } ?? []

  /// Those that a program does not have, and opbench measures by asking it for others.
  static let searches: Set = ["latency/capacity", "crowd/requests"]

  /// A search gives what it can of a subject of this program.
  @Test(
    .enabled(if: anyIsBuilt, "no peer is built: scripts/peers"), .serialized,
    arguments: built.map(\.0).filter { $0.benchmarks.contains("latency/slowdown") }.map(\.name))
  func isSearched(_ peer: String) throws {
    for workload in try Catalogue(graphs: [], seed: 7).workloads where Self.searches.contains("\(workload.name)") {
      let info = try #require(Peer.named(peer)).info
      let sets = workload.extendedParameterSets().filter { workload.obstacle(info, $0) == nil }
      #expect(!sets.isEmpty)
      // A capacity takes many runs; each crowd is another one.
      for chosen in workload is Crowded ? sets : Array(sets.prefix(1)) {
        let parameters = WorkloadTests.small(workload, chosen)
        let request = PeerTests.request(workload.name, parameters, on: peer, .time(repeats: 1, values: 1))
        let outcome = try #require(Self.launcher.launch(request, environment: [:], timeout: 120)).toEnd()
        #expect(outcome.failure(request.mode) == nil)
        let found = outcome.results.compactMap { if case .reading(1, let one) = $0 { one } else { nil } }
        #expect(Set(found.map(\.metric)).isSubset(of: workload.metrics))
        // Where other guests disturb each run of a search, there is no number.
        let isDisturbed = found.contains { $0.metric == .disturbedRuns && $0.value >= 6 }
        #expect(isDisturbed || found.contains { $0.metric == workload.headlines[0] })
      }
    }
  }

  static let launcher = PeerLauncher(.found())
  static let anyIsBuilt = Peer.all.contains { PeerPrograms.found().program($0.name) != nil }

  /// A peer reports the metrics of a subject of this program, from the same number of operations, and its checks have
  /// passed.
  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"), .serialized, arguments: cases)
  func checksItselfAndReportsTheSame(_ measured: (peer: String, name: BenchmarkName, parameters: Parameters)) throws {
    guard PeerPrograms.found().program(measured.peer) != nil else { return }
    func lines(_ mode: MeasureRequest.Mode) throws -> [ResultLine] {
      let outcome = try #require(
        Self.launcher.launch(
          PeerTests.request(measured.name, measured.parameters, on: measured.peer, mode), environment: [:], timeout: 120
        )
      ).toEnd()
      #expect(outcome.ending == .exited(0) && outcome.lines.last == "end", "\(outcome.lines)")
      return outcome.lines.compactMap(ResultLine.init)
    }
    let workload = try #require(try Catalogue(graphs: [], seed: 7).workloads.first { $0.name == measured.name })
    let able = try #require(
      SubjectRegistry.inProcess.first { workload.obstacle($0, measured.parameters) == nil })
    let ours = try #require(
      try workload.prepare(
        subject: able.name,
        Setting(parameters: measured.parameters, workers: 2, seed: 7, spin: Spin(roundsPerMicrosecond: 12.5)))
    ).measure(2)
    let readings = try lines(.time(repeats: 2, values: 2, leadIn: 0, budget: .max)).compactMap { line in
      if case .reading(let index, let reading) = line { (index: index, reading: reading) } else { nil }
    }
    #expect(Set(readings.map(\.index)) == [1, 2])
    #expect(readings.allSatisfy { workload.metrics.contains($0.reading.metric) })
    for expected in ours.readings {
      let ofPeer = readings.filter { $0.reading.metric == expected.metric }
      #expect(ofPeer.count == 2, "\(expected.metric.name)")
      for (_, reading) in ofPeer {
        #expect(reading.count == expected.count, "\(expected.metric.name)")
        #expect(reading.value.isFinite && reading.value >= 0)
      }
    }
    #expect(
      try lines(.calibrate(target: 1_000_000, limit: 3)).contains {
        if case .repeats(let count) = $0 { (1...3).contains(count) } else { false }
      })
  }

  static let oneValue = MeasureRequest.Mode.time(repeats: 1, values: 1, leadIn: 0, budget: 0)

  static let built = Peer.all.compactMap { peer in PeerPrograms.found().program(peer.name).map { (peer, $0) } }

  /// One line, which says what is wrong.
  private static func isRefused(_ outcome: ProcessOutcome) -> Bool {
    outcome.ending == .exited(0) && outcome.lines.count == 1 && outcome.lines[0].hasPrefix("failure\t")
      && ResultLine(outcome.lines[0]) != nil
  }

  /// The conformance kit, and what the table of peers says of the program.
  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"), .serialized, arguments: built.map(\.0.name))
  func passesTheKit(_ name: String) throws {
    let (peer, program) = try #require(Self.built.first { $0.0.name == name })
    let said = try PeerIntroduction(of: program)
    #expect(Set(said.benchmarks.map(\.description)) == peer.benchmarks)
    #expect(said.only["join"] ?? "fork" == peer.join)
    let kit = PeerConformance(program, patience: 120, endLeftBehind: { 0 }, say: { _ in })
    try kit.run()
    #expect(kit.findings.count > 30)
    for finding in kit.findings { #expect(finding.verdict != .failed, "\(name): \(finding.line)") }
  }

  private static let chain = ["benchmark=dependencies/chain", "param.length=10", "workers=1"]
  private static let timed = ["mode=time", "repeats=1", "values=2", "lead_in=0", "budget=0", "more=0"]

  /// Each choice of each peer. Numbers stand at the ends of their range.
  static let choices: [(peer: String, strategy: String)] = Peer.all.flatMap { peer in
    peer.decisions.flatMap { decision in
      decision.choices.flatMap { choice in
        (choice.range.map { ["\($0.lowerBound)", "\($0.upperBound)"] } ?? [choice.text])
          .map { (peer: peer.name, strategy: "\(decision.name)=\($0)") }
      }
    }
  }

  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"), .serialized, arguments: choices)
  func eachChoiceRuns(_ chosen: (peer: String, strategy: String)) {
    guard let program = PeerPrograms.found().program(chosen.peer) else { return }
    let fib = ["benchmark=forkjoin/fib", "param.n=10", "tasks=177", "expected=55", "workers=2"]
    for words in [Self.chain, fib] {
      let outcome = ProcessRunner.run(program, words + Self.timed + ["strategy=\(chosen.strategy)"], timeout: 60)
      #expect(outcome.ending == .exited(0) && outcome.lines.last == "end", "\(outcome.lines)")
    }
  }

  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"))
  func aWrongStrategyIsOneLine() {
    for (peer, program) in Self.built {
      var wrong = ["nothing=1", "nothing"]
      for decision in peer.decisions {
        let (name, usual) = (decision.name, decision.usual)
        let choice = "\(name)=\(usual)"
        wrong += ["\(name)=nothing", name, "\(name)=", "\(choice);\(choice)", "\(choice);"]
        for range in decision.choices.compactMap(\.range) {
          let numbers = ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "18446744073709551616"]
          wrong += numbers.map { "\(name)=\($0)" }
        }
      }
      for strategy in wrong {
        let outcome = ProcessRunner.run(program, Self.chain + Self.timed + ["strategy=\(strategy)"], timeout: 30)
        #expect(Self.isRefused(outcome), "\(peer.name) \(strategy): \(outcome.lines)")
      }
    }
  }

  /// The time of each value, in nanoseconds.
  private static func times(_ outcome: ProcessOutcome) -> [Double] {
    outcome.lines.compactMap(ResultLine.init).compactMap { line in
      guard case .reading(_, let reading) = line, reading.metric == .nsPerOp else { return nil }
      return reading.value * Double(reading.count)
    }
  }

  /// What does not depend on how fast the machine is.
  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"))
  func aBudgetEndsTheValuesAfterOne() {
    for (peer, program) in Self.built {
      func outcome(values: Int, budget: UInt64) -> ProcessOutcome {
        let words = ["mode=time", "repeats=1", "values=\(values)", "lead_in=0", "budget=\(budget)", "more=0"]
        let outcome = ProcessRunner.run(program, Self.chain + words, timeout: 60)
        #expect(outcome.lines.last == "end", "\(peer.name): \(outcome.lines.suffix(1))")
        return outcome
      }
      #expect(Self.times(outcome(values: 1, budget: 0)).count == 1)
      #expect(Self.times(outcome(values: 5, budget: 0)).count == 1)
      #expect(Self.times(outcome(values: 5, budget: .max)).count == 5)
      let budget: UInt64 = 50_000_000
      let ended = outcome(values: 1_000_000_000, budget: budget)
      let times = Self.times(ended)
      // No value begins when the budget is used up, and without that there is another one.
      #expect(times.count >= 1 && ended.nanoseconds >= budget)
      #expect(times.count == 1 || times.dropLast().reduce(0, +) < Double(budget))
    }
  }

  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"))
  func theLeadInLastsAsLongAsItSays() {
    for (peer, program) in Self.built {
      // Of a place there may be more than CPUs.
      let words = ["mode=time", "repeats=1", "values=1", "lead_in=200000000", "budget=0", "more=0", "place=1000003"]
      let outcome = ProcessRunner.run(program, Self.chain + words, timeout: 60)
      #expect(Self.times(outcome).count == 1 && outcome.nanoseconds >= 200_000_000, "\(peer.name)")
      // It is in no reading: a value of ten operations.
      #expect(
        outcome.lines.compactMap(ResultLine.init).allSatisfy { line in
          if case .reading(let index, let reading) = line {
            index == 1 && (9...10).contains(reading.count)
          } else {
            true
          }
        }, "\(peer.name)")
    }
  }

  /// The sweep of `metg` with limits that leave no choice to the speed of the machine.
  @Test(.enabled(if: anyIsBuilt, "no peer is built: scripts/peers"))
  func aSweepTakesTheStepsItIsGiven() throws {
    let folder = TemporaryFolder()
    let graph = folder.write(
      PeerFile.graph(TaskGraph(inputs: [[], [0], [0], [1, 2]], nanoseconds: [1, 1, 1, 1])).text, to: "graph")
    let request = try PeerRequest(
      PeerTests.request(
        BenchmarkName("dependencies", "metg"), ["pattern": "trivial", "width": "4", "steps": "4", "imbalance": "0"],
        .time(repeats: 1, values: 1, leadIn: 0, budget: .max)))
    // Begins at 1,000 and ends at 250 or, where all efficiencies are too low, after two steps.
    let limits = ["sweep_first=1000", "sweep_largest=1000", "sweep_smallest=251", "sweep_runs=2", "sweep_attempts=0"]
    for (peer, program) in Self.built {
      for (little, steps) in [("0", 4), ("1e300", 2)] {
        let outcome = ProcessRunner.run(
          program, request.arguments + limits + ["sweep_little=\(little)", "graph=\(graph)"], timeout: 60)
        #expect(outcome.lines.last == "end", "\(peer.name): \(outcome.lines)")
        let work = outcome.lines.compactMap(ResultLine.init).compactMap { line -> Double? in
          guard case .reading(1, let reading) = line, reading.metric == .makespan, reading.count == 4 else {
            return nil
          }
          return reading.detail.number("work_ns")
        }
        #expect(work.count == steps && work.first == 1_000, "\(peer.name): \(work)")
        for (larger, smaller) in zip(work, work.dropFirst()) {
          #expect(abs(larger / smaller - 2.0.squareRoot()) < 1e-9)
        }
      }
    }
  }
}
