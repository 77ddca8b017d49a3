import Glibc
import StressEngine
import TestSupport

// Stresses every backend, or those named as arguments, as long as OPBENCH_STRESS_SECONDS says; exits with 1 on a failure.
// A small program on its own, because memory checkers see too much of a test bundle that is not ours.

let settings = StressSettings.fromEnvironment
let names = CommandLine.arguments.dropFirst()
if let unknown = names.first(where: { name in !allBackends.contains { $0.name == name } }) {
  print("there is no backend \"\(unknown)\"; there are \(allBackends.map(\.name).joined(separator: ", "))")
  exit(64)
}
print("seed \(settings.seed), \(settings.seconds) s for each backend")
var failed = false
for backend in allBackends where names.isEmpty || names.contains(backend.name) {
  let report = StressRun.run(backend, settings)
  print(report)
  for failure in report.failures { print("FAILED: \(failure)") }
  fflush(nil)
  if !report.failures.isEmpty { failed = true }
}
exit(failed ? 1 : 0)
