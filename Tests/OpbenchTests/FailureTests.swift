import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// What goes wrong costs as little as possible and is said in one line.
@Suite(.ownThread) struct FailureTests {
  let folder = TemporaryFolder()
  static let program = BuiltOpbench.path
  static let run = [
    "run", "--quick", "--backend", "raw-dispatch", "--benchmark", "overhead/local", "--values", "2", "--blocks", "10",
  ]

  func shell(_ script: String, _ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run("sh", ["-c", script, Self.program] + arguments, timeout: 300)
  }

  @Test func aFullDisk() throws {
    let toStandardOutput = shell("\"$0\" \"$@\" > /dev/full", Self.run)
    #expect(toStandardOutput.ending == .exited(74))
    #expect(toStandardOutput.lastWords == "opbench: cannot write standard output: No space left on device")

    let output = folder.write("earlier", to: "a.csv")
    // A file may grow to one block of 512 bytes or 1,024: less than the run writes.
    let limited = shell("ulimit -f 1; exec \"$0\" \"$@\"", Self.run + ["--output", output, "--overwrite"])
    #expect(limited.ending == .exited(74), "\(limited)")
    #expect(limited.lastWords?.hasPrefix("opbench: cannot write") == true)
    #expect(folder.read("a.csv") == "earlier")
    #expect(folder.contents.allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func aReadOnlyFolder() throws {
    // Root may write anywhere but where the kernel lets nobody.
    let outcome = shell("\"$0\" \"$@\"", Self.run + ["--output", "/proc/a.csv"])
    #expect(outcome.ending == .exited(73))
    #expect(outcome.lastWords?.contains("/proc/a.csv") == true)
  }

  /// The run and its measuring process are stopped together. Most of such a process is one timed stretch, and the stop
  /// takes far longer than that.
  @Test func aRunThatWasStoppedHasNoTimeOfTheStop() throws {
    let output = "\(folder.path)/a.csv"
    let script = """
      "$0" "$@" & run=$!
      i=0
      until [ $(wc -l < "\(output).partial" 2>/dev/null || echo 0) -gt 10 ]; do
        i=$((i + 1)); [ $i -lt 3000 ] || exit 99; sleep 0.02
      done
      for again in 1 2 3; do
        kill -STOP $run; all="$run $(cat /proc/$run/task/*/children)"
        kill -STOP $all; sleep 2; kill -CONT $all; sleep 0.3
      done
      wait $run
      """
    let sleepers = ["run", "--benchmark", "sleepers", "--backend", "stealing", "--blocks", "6", "--values", "2"]
    let outcome = shell(script, sleepers + ["--output", output])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let rows = parseCSV(try #require(folder.read("a.csv")))
    let times = rows.filter { $0[10] == "makespan_ns" }.compactMap { Double($0[12]) }
    #expect(times.count >= 24 && times.allSatisfy { $0 < 2e9 }, "\(times.max() ?? 0)")
  }

  /// What ends a run ends its measuring process too, whether the run can do anything about it or not: no child is left
  /// alone.
  @Test(arguments: [
    // The body of this benchmark takes a minute.
    ("HUP", ["run", "--benchmark", "long/sleep"]), ("KILL", ["run", "--benchmark", "long/sleep"]),
    ("TERM", ["gate", "--calibrate", "30", "--benchmark", "local-add|external-add"]),
    ("INT", ["gate", "--calibrate", "30", "--benchmark", "local-add|external-add"]),
    ("HUP", ["gate", "--calibrate", "30", "--benchmark", "local-add|external-add"]),
  ])
  func aSignalEndsTheMeasuringProcessToo(signal: String, command: [String]) throws {
    // Measuring processes have the variable of the run that started them. A run that goes on for ten seconds more would
    // go on for ever.
    let script = """
      OPBENCH_TEST_MARK="\(folder.path)" "$0" "$@" 2>"\(folder.path)/said" & run=$!
      i=0
      until child=$(pgrep -P $run) && [ -n "$child" ]; do
        i=$((i + 1)); [ $i -lt 3000 ] || exit 99; sleep 0.02
      done
      sleep 1
      kill -\(signal) $run
      i=0
      while kill -0 $run 2>/dev/null && [ "$(cut -d ' ' -f 3 /proc/$run/stat 2>/dev/null)" != Z ]; do
        i=$((i + 1)); [ $i -lt 500 ] || { kill -9 $run; exit 98; }; sleep 0.02
      done
      wait $run; code=$?
      i=0
      while grep -qs "OPBENCH_TEST_MARK=\(folder.path)" /proc/[0-9]*/environ; do
        i=$((i + 1)); [ $i -lt 500 ] || exit 97; sleep 0.02
      done
      exit $code
      """
    let place = "\(folder.path)/a." + (command[0] == "run" ? "csv" : "json")
    let program = command[0] == "run" ? BuiltProgram.path("OddBenchmarks") : Self.program
    let outcome = ProcessRunner.run("sh", ["-c", script, program] + command + ["--output", place], timeout: 300)
    #expect(outcome.ending == .exited(128 + (signal == "KILL" ? SIGKILL : SIGINT)), "\(outcome)")
    if command[0] == "gate" {
      #expect(folder.contents == ["said"] && folder.read("said")?.contains("a.json is as it was") == true)
    }
  }

  /// Killed in the middle, one way or the other, and gone on with.
  @Test(arguments: ["INT", "KILL"])
  func anInterruptedRunGoesOn(signal: String) throws {
    let output = "\(folder.path)/a.csv"
    let script = """
      "$0" "$@" & run=$!
      i=0
      until [ $(wc -l < "\(output).partial" 2>/dev/null || echo 0) -gt 10 ]; do
        i=$((i + 1)); [ $i -lt 3000 ] || exit 99; sleep 0.02
      done
      kill -\(signal) $run; wait $run
      """
    let first = shell(script, Self.run + ["--output", output])
    #expect(first.ending == .exited(128 + (signal == "INT" ? SIGINT : SIGKILL)), "\(first)")
    let kept = parseUnfinishedCSV(try #require(folder.read(signal == "INT" ? "a.csv" : "a.csv.partial")))
    #expect(kept.count > 10)

    let second = shell("\"$0\" \"$@\"", Self.run + ["--output", output, "--resume"])
    #expect(second.ending == .exited(0), "\(second)")
    #expect(folder.contents == ["a.csv", "a.env.json"])
    let all = parseCSV(try #require(folder.read("a.csv")))
    #expect(Set(kept).isSubset(of: Set(all)), "a finished row was lost")
    // Ten blocks of two subjects with two values of each metric, each once.
    let places = all.dropFirst().map { $0[2] + " " + $0[4] + " " + $0[8] + " " + $0[10] }
    #expect(Set(places).count == places.count)
    let times = all.filter { $0[10] == "ns_per_op" }
    #expect(times.count == 40 && Set(times.map { $0[3] }).count == 20)
    #expect(Set(all.dropFirst().map { $0[1] }).count == 1)

    let other = shell("\"$0\" \"$@\"", Self.run + ["--output", output, "--resume", "--seed", "2"])
    #expect(other.ending == .exited(65) && other.lastWords?.contains("seed 1") == true)
    #expect(parseCSV(try #require(folder.read("a.csv"))) == all)
  }
}
