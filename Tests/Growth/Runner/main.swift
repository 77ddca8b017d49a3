import Glibc
import TestSupport

// GrowthRunner [backend …]: what the calls of GrowingCalls cost at four sizes, on every backend or those named; exits
// with 1 when the cost of a call grows with more than the size.

let names = CommandLine.arguments.dropFirst()
// A thread for each job: 96,000 threads are more than a machine has.
let known = allBackends.filter { $0.name != TestBackend.sample.name }
if let unknown = names.first(where: { name in !known.contains { $0.name == name } }) {
  print("there is no backend \"\(unknown)\"; there are \(known.map(\.name).joined(separator: ", "))")
  exit(64)
}
let steep = try CallCurves.run(on: known.filter { names.isEmpty || names.contains($0.name) })
for name in steep { print("FAILED: \(name): the cost grows with more than the size") }
exit(steep.isEmpty ? 0 : 1)
