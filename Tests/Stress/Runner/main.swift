import Glibc
import StressEngine
import TestSupport

// StressRunner [--minutes N | --graphs N] [backend …]: stresses every backend, or those named; exits with 1 on a
// failure. Each in turn as long as OPBENCH_STRESS_SECONDS says; or again and again for n minutes, after which memory
// and threads must be what they were; or n random graphs on each. A small program on its own, because memory checkers
// see too much of a test bundle that is not ours.

let settings = StressSettings.fromEnvironment
var names = Array(CommandLine.arguments.dropFirst())
var minutes: Double?
var graphs: Int?
if names.first == "--minutes" {
  guard names.count > 1, let number = Double(names[1]), number.isFinite, number > 0 else {
    print("--minutes takes how many minutes to go on, such as 30")
    exit(64)
  }
  minutes = number
  names.removeFirst(2)
}
if names.first == "--graphs" {
  guard names.count > 1, let number = Int(names[1]), number > 0 else {
    print("--graphs takes how many random graphs to run on each backend, such as 100000")
    exit(64)
  }
  graphs = number
  names.removeFirst(2)
}
if let unknown = names.first(where: { name in !allBackends.contains { $0.name == name } }) {
  print("there is no backend \"\(unknown)\"; there are \(allBackends.map(\.name).joined(separator: ", "))")
  exit(64)
}
let backends = allBackends.filter { names.isEmpty || names.contains($0.name) }
var failed = false
if let minutes {
  print("seed \(settings.seed), \(minutes) minutes, turns of \(Soak.secondsPerTurn) s")
  var soak = Soak(backends, seconds: minutes * 60, seed: settings.seed) {
    print($0)
    fflush(nil)
  }
  for failure in soak.run() {
    print("FAILED: \(failure)")
    failed = true
  }
} else if let graphs {
  print("seed \(settings.seed), \(graphs) random graphs for each backend")
  for backend in backends {
    let done = StressRun.runGraphs(graphs, on: backend, settings)
    print("\(backend): \(done.graphs) graphs, \(done.runs) runs, \(done.failures.count) failures")
    for failure in done.failures { print("FAILED: \(failure)") }
    fflush(nil)
    if !done.failures.isEmpty { failed = true }
  }
} else {
  print("seed \(settings.seed), \(settings.seconds) s for each backend")
  for backend in backends {
    let report = StressRun.run(backend, settings)
    print(report)
    for failure in report.failures { print("FAILED: \(failure)") }
    fflush(nil)
    if !report.failures.isEmpty { failed = true }
  }
}
exit(failed ? 1 : 0)
