import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults

/// `simulate` and `calibrate-model` as a user meets them.
@Suite(.ownThread) struct SimulateCommandTests {
  let folder = TemporaryFolder()
  private static let small = [
    "simulate", "--graph", "stencil_1d(width=8;steps=4),generated", "--workers", "1,4", "--repeats", "2",
  ]

  private func run(_ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, timeout: 120)
  }

  @Test func everyRowSaysThatItIsSimulated() throws {
    let file = "\(folder.path)/s.csv"
    let outcome = run(Self.small + ["--backend", "stealing,threadpool(order=fifo)", "--output", file])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    #expect(outcome.lines.first?.hasPrefix("simulated: no CPU ran these tasks") == true)
    let lines = try #require(folder.read("s.csv")).split(separator: "\r\n")
    // Two graphs, two pools, two numbers of workers, two seeds.
    #expect(lines.count == 17 && lines.dropFirst().allSatisfy { $0.hasPrefix("simulated,1,") })
    #expect(folder.contents == ["s.csv", "s.env.json"])
    #expect(try #require(folder.read("s.env.json")).contains("\"simulation\" : {"))
    // A finished result is not replaced unasked, and the same command gives the same rows.
    expectComplaint(73, ["holds a finished result", "--overwrite"], Self.small + ["--output", file])
    let before = folder.read("s.csv")
    _ = run(Self.small + ["--backend", "stealing,threadpool(order=fifo)", "--output", file, "--overwrite"])
    #expect(folder.read("s.csv") == before)
  }

  @Test func ranksNeedMeasuredGraphs() {
    let file = folder.write(Sample.csv, to: "other.csv")
    expectComplaint(65, ["other.csv has no graph", "run --benchmark"], ["check-model", "--against", file])
    expectComplaint(66, ["there is no such file"], ["check-model", "--against", "\(folder.path)/none.csv"])
    expectComplaint(64, ["--blocks 3 has no place"], ["check-model", "--against", file, "--blocks", "3"])
  }

  /// A simulation writes its files at its end. Killed at any call, it leaves a whole result or none, and the next
  /// simulation writes there.
  @Test func aKilledSimulationLeavesNoHalf() throws {
    let (folder, other) = (TemporaryFolder(), TemporaryFolder())
    let command = Self.small + ["--output", "\(folder.path)/s.csv", "--overwrite"]
    _ = run(Self.small + ["--output", "\(other.path)/s.csv"])
    let whole = try #require(other.read("s.csv"))
    var stops = 0
    while true {
      let outcome = ProcessRunner.run(
        BuiltOpbench.path, command, environment: [FileCall.stopVariable: "\(stops + 1)"], timeout: 120)
      if outcome.ending == .exited(0) { break }
      stops += 1
      #expect(outcome.ending == .signalled(SIGKILL), "\(outcome)")
      if let rows = folder.read("s.csv") {
        #expect(rows == whole, "killed at stop point \(stops)")
        #expect(try RunRecord.read(path: "\(folder.path)/s.env.json")?.outcome.rowCount == 8)
      }
    }
    #expect(stops >= 10 && folder.contents == ["s.csv", "s.env.json"], "\(stops): \(folder.contents)")
  }

  @Test func rowsGoToStandardOutputAndTheTableBesideThem() {
    let outcome = run(Self.small + ["--output", "-"])
    #expect(outcome.ending == .exited(0))
    #expect(outcome.lines.first?.hasPrefix("kind,schema,graph") == true && outcome.lines.count == 9)
  }

  @Test func whatWouldBeSimulatedIsSaid() {
    let dry = run(Self.small + ["--dry-run", "--metg"]).lines.joined(separator: "\n")
    #expect(dry.contains("workers: 1, 4") && dry.contains("at most 264 runs, seeds from 1"), "\(dry)")
    // A time may be given as the program prints it.
    let work = run(Self.small + ["--dry-run", "--work", "10µs,20us"]).lines.joined(separator: "\n")
    #expect(work.contains("work of a task: 10.0 µs, 20.0 µs"), "\(work)")
  }

  @Test func mistakesAreOneLine() throws {
    expectComplaint(64, ["there is no graph 'stencil'"], ["simulate", "--graph", "stencil"])
    expectComplaint(64, ["--workers takes counts from 1 to 1024"], ["simulate", "--workers", "2048"])
    expectComplaint(64, ["--work takes times", "'10'"], ["simulate", "--work", "10"])
    expectComplaint(64, ["'dispatch' cannot be simulated"], ["simulate", "--backend", "dispatch"])
    expectComplaint(64, ["no whole number of groups"], ["simulate", "--group", "3", "--socket", "8"])
    expectComplaint(64, ["twice"], ["simulate", "--graph", "fft,fft"])
    expectComplaint(64, ["ends in .csv"], ["simulate", "--output", "a.txt"])
    expectComplaint(66, ["no.json", "no such model file"], ["simulate", "--model", "no.json"])
    let file = folder.write("{\"schema\": 9}", to: "m.json")
    expectComplaint(65, ["the model has schema 9, and this opbench reads schema 2"], ["simulate", "--model", file])
    expectComplaint(73, ["is there already"], ["calibrate-model", "--output", file])
    expectComplaint(73, ["it is a folder"], ["calibrate-model", "--output", folder.path])
    expectComplaint(64, ["--name", "a terminal would obey"], ["calibrate-model", "--name", "a\u{1B}[2Jb"])
    expectComplaint(66, ["is a folder, not a model file"], ["simulate", "--model", folder.path])
    expectComplaint(64, ["--metg sweeps", "--work 10us"], ["simulate", "--metg", "--work", "10us"])
  }

  @Test func aModelIsMeasuredAndRead() throws {
    let file = "\(folder.path)/model.json"
    let outcome = run(["calibrate-model", "--rounds", "1", "--name", "a test", "--output", file])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let text = try #require(folder.read("model.json"))
    #expect(text.contains("\"name\" : \"a test\"") && text.contains("\"wake_latency\""))
    let simulated = run(Self.small + ["--model", file])
    #expect(simulated.lines.first?.hasSuffix("The costs are those of: a test") == true, "\(simulated)")
  }
}
