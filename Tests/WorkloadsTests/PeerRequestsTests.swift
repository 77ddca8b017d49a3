import FoundationEssentials
import LaboratorySupport
import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// What is measured with requests in programs of other languages: all of it over what each request took.
struct PeerRequestsTests {
  /// A program whose requests are there for `factor` times as long as they take.
  /// - Parameters:
  ///   - first: the first request of which it speaks.
  ///   - wait: how many seconds it takes where it is told when to start.
  ///   - jobs: how many jobs it says that another instance ran; empty: it does not know of another one.
  private static func launcher(
    _ factor: Double, from first: Int, last: String, wait: Int, jobs: String
  ) throws -> (PeerLauncher, TemporaryFolder) {
    let folder = TemporaryFolder()
    let program = folder.write(
      """
      #!/bin/sh
      for argument in "$@"; do
        case "$argument" in
          requests=*) file=${argument#requests=} ;;
          start=*) sleep \(wait) ;;
          crowd_from=*) jobs=\(jobs) ;;
          benchmark=*) [ "$argument" = benchmark=latency/slowdown ] || { printf 'failure\\t%s\\n' "$argument"; exit; } ;;
        esac
      done
      awk '
        NR >= \(first) { printf "reading\\t1\\tsojourn_ns\\tns\\t%f\\t1\\trequest=%d\\n", \(factor) * ($2 + $3), NR }
        END { if (jobs) printf "reading\\t1\\tcrowd_jobs\\tjobs\\t%d\\t1\\t\\n", jobs; print "\(last)" }
      ' jobs="$jobs" "$file"
      """, to: "rayon")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    return (PeerLauncher(PeerPrograms(folders: [folder.path])), folder)
  }

  private static func outcome(
    _ name: BenchmarkName, _ parameters: Parameters, context: String = "", _ factor: Double, from first: Int = 1,
    last: String = "end", wait: Int = 1, jobs: String = "9"
  ) throws -> ProcessOutcome {
    let (launcher, folder) = try launcher(factor, from: first, last: last, wait: wait, jobs: jobs)
    let request = MeasureRequest(
      cell: CellKey(Scenario(name, parameters), Arm(subject: "rayon", workers: 2)), mode: .time(repeats: 1, values: 1),
      seed: 7, spin: Spin(roundsPerMicrosecond: 1), context: context)
    return try #require(launcher.launch(request, environment: ["TMPDIR": folder.path], timeout: 60)).toEnd()
  }

  private static func values(_ outcome: ProcessOutcome) -> [String: Double] {
    #expect(outcome.failure(.time(repeats: 1, values: 1)) == nil)
    return Dictionary(
      uniqueKeysWithValues: outcome.results.compactMap {
        if case .reading(1, let reading) = $0 { (reading.metric.name, reading.value) } else { nil }
      })
  }

  private static let requests: Parameters = [
    "service": "fixed", "arrivals": "exponential", "mean_us": "100", "long": "same", "samples": "100",
  ]

  @Test func whoIsQuickCarriesEveryLoadAndWhoIsSlowNone() throws {
    let name = Capacity().name
    let quick = Self.values(try Self.outcome(name, Self.requests, 2))
    #expect(quick["capacity_percent"] == 95 && quick["disturbed_runs"] == 0)
    let ideal = try #require(quick["ideal_capacity_percent"])
    #expect(ideal > 50 && quick["capacity_of_ideal"] == 95 / ideal)
    let slow = Self.values(try Self.outcome(name, Self.requests, 20))
    // Where other guests disturb each run, there is no number.
    if slow["disturbed_runs"]! < 6 { #expect(slow["capacity_percent"] == 0) }
  }

  @Test func slowdownsAreComputedFromWhatTheProgramSays() throws {
    let found = Self.values(try Self.outcome(Capacity(isCurve: true).name, Self.requests.merging(["load": "50"]), 3))
    #expect(["slowdown_p50", "slowdown_p99", "slowdown_p999"].allSatisfy { abs(found[$0]! - 3) < 1e-4 })
    #expect(found["ideal_slowdown_p50"]! >= 1)
  }

  /// The time that requests sleep counts, and the program hears of it.
  @Test func aDescribedLoadHasItsTails() throws {
    let folder = TemporaryFolder()
    let file = folder.write(
      "rate = 1000\nservice = fixed 1ms\nblocks = 99 % 10ms\ntail = 25ms\ncpus = 1\n", to: "a.load")
    let parameters: Parameters = ["load": "a", "way": "plain", "times": "1"]
    let found = Self.values(try Self.outcome(DescribedLoad.name, parameters, context: file, 2))
    #expect(abs(found["sojourn_p50_ns"]! - 22e6) < 1 && found["late_p99_percent"] == 0)
    let late = Self.values(try Self.outcome(DescribedLoad.name, parameters, context: file, 3))
    #expect(late["late_p99_percent"]! > 90)
  }

  @Test func aCrowdIsProcessesOfOpbenchOrAnotherInstance() throws {
    let parameters: Parameters = ["beside": "antagonist", "load": "33", "phase_ms": "50", "workers": "given"]
    let found = Self.values(try Self.outcome(Crowded().name, parameters, 2))
    #expect(["before", "beside", "after"].allSatisfy { found["sojourn_\($0)_p99_ns"] == 1e6 })
    #expect(found["recovery_ns"] == 0)
    // 400 requests of 0.5 ms end within a millisecond, so the ratio is a 200th of the fair share. Beside a crowd that
    // is less than all CPUs.
    #expect(found["makespan_over_fair_share"]! * 200 < 0.95 * Double(min(2, CPUs.online)))
    let early = try Self.outcome(Crowded().name, parameters, 2, wait: 0)
    #expect(
      try #require(early.failure(.time(repeats: 1, values: 1))).contains("ended before its last request came"))
    // Beside another instance half of the CPUs are fair.
    let pool = parameters.merging(["beside": "pool"])
    let shared = Self.values(try Self.outcome(Crowded().name, pool, 2))
    #expect(shared["sojourn_beside_p99_ns"] == 1e6)
    #expect(abs(shared["makespan_over_fair_share"]! * 200 - min(2, Double(CPUs.online) / 2)) < 1e-3)
    let unaware = try Self.outcome(Crowded().name, pool, 2, jobs: "")
    #expect(
      try #require(unaware.failure(.time(repeats: 1, values: 1))).contains("does not know the argument crowd_from"))
    let setting = Setting(
      parameters: parameters.merging(["beside": "quota"]), workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
    #expect(throws: Complaint.self) { try Crowded().peerInput(setting) }
    let other = Crowded().extendedParameterSets().filter {
      Crowded().obstacle(Peer.named("go")!.info, $0) == nil
    }
    #expect(other.map { $0["beside"] } == ["pool", "antagonist"])
  }

  /// What is wrong with one process of a search is wrong with the whole.
  @Test(arguments: ["latency/capacity", "latency/slowdown", "crowd/requests"])
  func aProgramThatFailsHasNoNumber(benchmark: String) throws {
    let parts = benchmark.split(separator: "/").map(String.init)
    let parameters = Self.requests.merging([
      "load": "50", "beside": "antagonist", "phase_ms": "20", "workers": "given",
    ])
    let mode = MeasureRequest.Mode.time(repeats: 1, values: 1)
    let name = BenchmarkName(parts[0], parts[1])
    let few = try Self.outcome(name, parameters, 1, from: 2)
    #expect(try #require(few.failure(mode)).contains("in place of request=1"))
    let torn = try Self.outcome(name, parameters, 1, last: "")
    #expect(torn.failure(mode) != nil)
    let failed = try Self.outcome(name, parameters, 1, from: 1_000_000, last: "failure\\tno workers")
    #expect(failed.failure(mode) == "no workers")
  }
}
