import LaboratorySupport
import Subjects
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords
@testable import Workloads

/// The sweep over the length and the number of bodies.
@Suite(.ownThread) struct ForkBreakEvenTests {
  static let few = [2, 5].flatMap { bodies in [0.0, 1_000].map { BreakEven.Problem(bodies: bodies, body: $0) } }
  static let subjects = SubjectRegistry.inProcess.filter { ForkBreakEven().obstacle($0) == nil }

  @Test(.serialized, arguments: WorkloadTests.few(subjects), ["worker", "outside"])
  func eachProblemHasItsRatio(_ subject: SubjectInfo, from: String) throws {
    let workload = ForkBreakEven(problems: Self.few)
    let setting = Setting(
      parameters: ["from": from], workers: 2, seed: 1, spin: Spin(roundsPerMicrosecond: 10))
    let trial = try #require(try workload.prepare(subject: subject.name, setting))
    #expect(trial.operationsPerRepeat == 2 * (2 + 5))
    let readings = try trial.measure(1).readings
    #expect(readings.allSatisfy { workload.metrics.contains($0.metric) && $0.value > 0 })
    let ratios = readings.filter { $0.metric == .timeOverSerial }
    #expect(ratios.map(\.detail) == Self.few.map(\.parameters))
  }

  @Test func whoForksIsMeasured() {
    #expect(Self.subjects.map(\.name).contains("raw-dispatch") && Self.subjects.map(\.name).contains("serial"))
    #expect(!Self.subjects.map(\.name).contains("foundation"))
  }

  @Test func theProblemsAreThoseOfThePage() {
    let problems = BreakEvenSweep.problems
    #expect(problems.contains(BreakEven.Problem(bodies: 2, body: 1_000_000)))
    #expect(problems.contains(BreakEven.Problem(bodies: 1_000_000, body: 0)))
    #expect(problems.allSatisfy { Double($0.bodies) * $0.body <= 12e6 } && Set(problems).count == problems.count)
    for (_, lengths) in Dictionary(grouping: problems, by: \.bodies) { #expect(lengths.count > 1) }
  }

  /// A turn is of as many solutions as fill the time, and the median of the turns counts.
  @Test func aProblemIsSolvedUntilTheTimeIsFilled() throws {
    var asked: [Int] = []
    let sweep = BreakEvenSweep([BreakEven.Problem(bodies: 3, body: 0)], spin: Spin(roundsPerMicrosecond: 1)) {
      tree, turn in
      asked.append(turn.times)
      // 1,000 ns each, and once ten times as much.
      return (UInt64(turn.times) * (asked.count == 4 ? 10_000 : 1_000), tree.expected * turn.times)
    }
    let points = try sweep.run(1)
    #expect(asked == [1, 10, 100, 100, 100, 100] && points.map(\.forked) == [1_000])
    #expect(points[0].problem == BreakEven.Problem(bodies: 3, body: 0) && points[0].serial > 0)
    let wrong = BreakEvenSweep([BreakEven.Problem(bodies: 3, body: 0)], spin: Spin(roundsPerMicrosecond: 1)) {
      ($1.times == 0 ? 0 : 5, 1)
    }
    #expect(throws: CheckFailed.self) { try wrong.run(1) }
  }

  /// With pauses a turn is as long as it may pause, and the pauses are not counted.
  @Test func pausesAreBetweenProblemsAndNotCounted() throws {
    var asked: [Int] = []
    let sweep = BreakEvenSweep(
      [BreakEven.Problem(bodies: 3, body: 0)], pause: 5_000_000, spin: Spin(roundsPerMicrosecond: 1)
    ) { tree, turn in
      asked.append(turn.times)
      return (UInt64(turn.times) * 1_000, tree.expected * turn.times)
    }
    _ = try sweep.run(1)
    #expect(asked == [1, 4, 4, 4, 4])
    let start = Clock.now()
    let pause = 200_000 as UInt64
    let timed = BreakEvenSweep.Turn(times: 10, pause: pause).timed { 7 }
    // What is not counted is between the two.
    let elapsed = Clock.now() - start
    #expect(timed.sum == 70 && elapsed >= timed.nanoseconds + 10 * pause)
  }

  @Test(arguments: [1, 2, 3, 7, 64, 1_000])
  func halvesReachEachBodyOnce(bodies: Int) {
    let tree = HalvingTree(bodies: bodies, rounds: 1)
    #expect(tree.serial(tree.root) == tree.expected && tree.taskCount(tree.root) == 2 * bodies - 1)
    #expect(ForkedTree(tree, subject: SerialSubject(workers: 1)).solve() == tree.expected)
  }

  @Test func fromIsOneOfTwoAndThePauseANumber() {
    let wrong = [["from": "nowhere"], [:], ["from": "worker", "pause_us": "long"]] as [Parameters]
    for parameters in wrong {
      #expect(throws: Complaint.self) { try WorkloadTests.trial(ForkBreakEven(), parameters, "serial") }
      #expect(throws: Complaint.self) {
        try PeerRequest(PeerTests.request(ForkBreakEven().name, parameters, on: "rayon"))
      }
    }
  }

  @Test func aProgramGetsTheProblemsAndGivesTimes() throws {
    let request = try PeerRequest(PeerTests.request(ForkBreakEven().name, ["from": "worker"], on: "rayon"))
    #expect(request.arguments.contains { $0.hasPrefix("sweep_problems=2:0,2:10,") && $0.contains(",1000000:10") })
    #expect(request.arguments.contains("sweep_turns=3") && request.arguments.contains("sweep_least=100000"))
    #expect(request.arguments.contains("sweep_pause=0") && request.arguments.contains("sweep_most=10000000"))
    let paused = ["from": "worker", "pause_us": "10000"] as Parameters
    let rare = try PeerRequest(PeerTests.request(ForkBreakEven().name, paused, on: "rayon"))
    #expect(rare.arguments.contains("sweep_pause=10000000") && rare.arguments.contains("sweep_most=2"))
    #expect(rare.arguments.contains { $0.hasPrefix("sweep_problems=2:0,2:10,") && !$0.contains("1000000:") })
    let lines = ["serial_ns\tns\t200", "makespan_ns\tns\t100"].map { "reading\t1\t\($0)\t2\tbodies=2;body_ns=100" }
    let answer = try request.answer(lines + ["end"]).compactMap(ResultLine.init)
    guard case .reading(1, let reading) = answer.first else { throw CheckFailed("\(answer)") }
    #expect(reading.metric == .timeOverSerial && reading.value == 0.5 && answer.last == .end)
  }

  @Test(
    .enabled(if: BuiltPeerTests.anyIsBuilt, "no peer is built: scripts/peers"), arguments: ["worker", "outside"],
    ["0", "50"])
  func eachPeerSolvesTheSameProblems(from: String, pause: String) throws {
    let parameters = ["from": from, "pause_us": pause] as Parameters
    let request = try PeerRequest(
      PeerTests.request(ForkBreakEven().name, parameters, on: "rayon", BuiltPeerTests.oneValue))
    for (peer, program) in BuiltPeerTests.built where peer.benchmarks.contains("\(ForkBreakEven().name)") {
      func outcome(_ words: [String]) -> ProcessOutcome {
        ProcessRunner.run(program, request.arguments + words, timeout: 60)
      }
      let problems = "sweep_problems=" + Self.few.map { "\($0.bodies):\(CSV.number($0.body))" }.joined(separator: ",")
      let solved = outcome([problems])
      #expect(solved.lines.last == "end", "\(peer.name): \(solved.lines)")
      let times = solved.lines.compactMap(ResultLine.init).compactMap { line in
        if case .reading(1, let reading) = line { reading } else { nil }
      }
      #expect(times.map(\.metric) == Self.few.flatMap { _ in [Metric.serial, .makespan] }, "\(peer.name)")
      #expect(times.map(\.detail) == Self.few.flatMap { [$0.parameters, $0.parameters] }, "\(peer.name)")
      for wrong in ["0:5", "2", "2:", ":5", "many:5", ""] {
        let refused = outcome(["sweep_problems=\(wrong)"])
        #expect(refused.lines.count == 1 && refused.lines[0].hasPrefix("failure\t"), "\(peer.name): \(wrong)")
      }
    }
  }
}
