import FoundationEssentials
import Glibc
import HarnessMeasuring

/// Counts instructions with valgrind. Instructions hardly vary, whatever else the machine does.
package final class Callgrind {
  private let folder: String
  /// Copies of the programs without debug information, because valgrind may fail to read the debug information of a
  /// newer compiler.
  private var stripped: [String: String] = [:]

  /// Nil when valgrind or strip is missing.
  package init?() {
    for tool in ["valgrind", "strip"] {
      guard ProcessRunner.run(tool, ["--version"], timeout: 20).ending == .exited(0) else { return nil }
    }
    let temporary = FileManager.default.temporaryDirectory.path
    folder =
      (temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary) + "/opbench-gate-\(UUID().uuidString)"
    guard mkdir(folder, 0o700) == 0 else { return nil }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Runs a request under valgrind. One of the lines of the outcome has the number of instructions. Nil when `strip`
  /// cannot copy the program, such as a script.
  package func run(_ arm: GateArm, _ request: MeasureRequest) -> ProcessOutcome? {
    let copy = stripped[arm.program] ?? "\(folder)/\(stripped.count)"
    if stripped[arm.program] == nil {
      let outcome = ProcessRunner.run("strip", ["-g", "-o", copy, arm.program], timeout: 60)
      guard outcome.ending == .exited(0) else { return nil }
      stripped[arm.program] = copy
    }
    return ProcessRunner.run(
      "valgrind",
      [
        "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1", "--fair-sched=yes", copy, "measure",
        (try? request.encoded()) ?? "",
      ], environment: arm.environment.merging(Self.environment) { $1 }, timeout: 120)
  }

  /// Hash tables with a random layout take a random number of instructions, so hashing is deterministic.
  private static let environment = ProcessRunner.withoutBacktrace.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }

  /// Whether a line is valgrind's and not the program's: "==123== …" or "--123-- …".
  package static func isOwn(_ line: String) -> Bool { line.hasPrefix("==") || line.hasPrefix("--") }

  /// The total that callgrind prints when a process ends: "==123== Collected : 4567".
  package static func collected(_ lines: [String]) -> Double? {
    for line in lines where line.hasPrefix("==") {
      let words = line.split(separator: " ")
      if words.count == 4, words[1] == "Collected", words[2] == ":" { return Double(words[3]) }
    }
    return nil
  }
}
