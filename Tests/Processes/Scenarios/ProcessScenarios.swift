import Glibc

/// Runs one scenario, named by the argument, in a process of its own: misuse that must trap, what needs the main
/// thread, what is traced, since a trace shows everything that a process does, and faults that end a process or need
/// one of their own.
///
/// `ProcessScenarios NAME` exits with 0 when the scenario returned; `ProcessScenarios` alone lists the names.
@main
struct ProcessScenarios {
  static let all = MisuseScenarios.all.merging(MainQueueScenarios.all) { first, _ in first }
    .merging(TraceScenarios.all) { first, _ in first }.merging(FaultScenarios.all) { first, _ in first }
    .merging(ThreadScenarios.all) { first, _ in first }.merging(RefusalScenarios.all) { first, _ in first }
    .merging(DeterministicScenarios.all) { first, _ in first }
    .merging(SurroundingsScenarios.all) { first, _ in first }
    .merging(CompositionScenarios.all) { first, _ in first }

  static func main() {
    guard CommandLine.arguments.count == 2, let scenario = all[CommandLine.arguments[1]] else {
      print(all.keys.sorted().joined(separator: "\n"))
      exit(CommandLine.arguments.count == 1 ? 0 : 64)
    }
    // A scenario that neither traps nor returns is killed, and reported as such, instead of hanging the test.
    alarm(120)
    scenario()
    exit(0)
  }
}
