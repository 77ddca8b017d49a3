import DifferentialEngine
import Glibc
import TestSupport

/// A run in a process of its own. When it crashes, the seed that the process marked last makes the program again.
struct CrashSearch {
  let backend: TestBackend
  let options: RunnerOptions

  /// - Returns: whether everything passed.
  func run(_ words: [String]) -> Bool {
    let mark = ChildProcess.temporaryPath("mark")
    defer { unlink(mark) }
    let end = ChildProcess.run(words + ["--backend", backend.name, "--in-process", "--mark", mark], isQuiet: false)
    guard case .crashed(let signal) = end else { return end == .exited(0) }
    guard let seed = SeedMark.read(mark) else {
      print("\(backend.name): crashed with signal \(signal) before the first program")
      return false
    }
    print("\(backend.name): crashed at program \(seed &- options.settings.seed &+ 1)")
    print("FAILED: seed \(seed) on \(backend.name)\n  crash: signal \(signal), see the message above")
    let program = ProgramGenerator.program(
      seed: seed, features: options.settings.features, mayStarve: backend.compensatesBlockedBodies)
    print(ChildShrinker(backend: backend, options: options).shrink(program, category: nil))
    return false
  }
}

/// Tries each smaller program in a process of its own: one that crashes costs nothing else, and the threads of one that
/// hangs are not in the way of the next.
struct ChildShrinker {
  let backend: TestBackend
  let options: RunnerOptions

  /// - Parameter category: of the failure that is to stay; nil: a crash.
  func shrink(_ program: Program, category: String?) -> String {
    guard options.settings.shrinks else { return program.description }
    let shrunk = Shrinker(seconds: 90) { fails($0, category) }.shrink(program)
    return "# shrunk from \(program.statements.count) statements\n\(shrunk)"
  }

  /// Three times in a row, in fresh processes.
  func isSlowAgain(_ program: Program) -> Bool { (0..<3).allSatisfy { _ in fails(program, "slow") } }

  private func fails(_ program: Program, _ category: String?) -> Bool {
    let times = category == "slow" ? 1 : category == "hang" ? 3 : 60
    let file = ChildProcess.temporaryPath("candidate")
    defer { unlink(file) }
    ChildProcess.write(program.description, to: file)
    let end = ChildProcess.run(
      [
        "--replay", file, "--times", "\(times)", "--backend", backend.name, "--patience",
        category == "slow" ? "5" : "1",
        "--in-process", "--features", options.features, "--slow", "\(min(options.settings.slowLimit, 1e6) * 1_000)",
        "--expect",
        category ?? "crash",
      ], isQuiet: true)
    if case .crashed = end { return category == nil }
    return end == .exited(3)
  }
}
