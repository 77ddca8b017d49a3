import DifferentialEngine
import Glibc
import TestSupport

// Random programs against the model, or one program from a file; exits with 1 on a failure. `--help` lists the options.

func show(_ failure: ProgramFailure, withJournal: Bool) {
  print("  \(failure)")
  if withJournal { for (index, event) in failure.journal.enumerated() { print("    \(index + 1) \(event)") } }
}

func replay(_ path: String, on backend: TestBackend, _ options: RunnerOptions) throws -> Bool {
  let program = try Program(file: path)
  if let choices = options.schedule {
    let failure = Schedule(program, choices: choices).run().failure
    print("deterministic: \(path) \(failure == nil ? "passed" : "FAILED") in this order")
    if let failure { show(failure, withJournal: options.showsJournal) }
    return failure == nil
  }
  let failure = DifferentialRun.replay(program, on: backend, times: options.times, options.settings)
  print("\(backend.name): \(path) \(failure == nil ? "passed \(options.times) times" : "FAILED")")
  if let failure { show(failure, withJournal: options.showsJournal) }
  if let failure, failure.category == options.expected { exit(3) }
  return failure == nil
}

/// Each program runs in the order of its seed. A failing one is reduced together with its schedule, which shows it
/// again.
func fuzzSchedules(_ options: RunnerOptions) -> Bool {
  var setting = Schedule.Setting()
  setting.features = options.settings.features
  let end = ContinuousClock.now + .seconds(min(options.settings.seconds, 1e9))
  var (programs, ran, failures) = (0, 0, 0)
  while programs < options.settings.programs, ContinuousClock.now < end, failures < options.settings.mostFailures {
    let seed = options.settings.seed &+ UInt64(programs)
    options.settings.mark?.set(seed)
    let program = ProgramGenerator.program(seed: seed, features: options.settings.features, mayStarve: true)
    let outcome = Schedule.run(program, seed: seed, setting)
    programs += 1
    ran += outcome.ran
    guard let failure = outcome.failure else { continue }
    failures += 1
    print("FAILED: seed \(seed), program \(programs - 1) of this run, in the order of its seed")
    show(failure, withJournal: options.showsJournal)
    let schedule = Schedule(program, choices: outcome.choices)
    let reduced =
      options.settings.shrinks ? ScheduleShrinker(setting, category: failure.category).shrink(schedule) : schedule
    print("# before: \(program.statements.count) statements, \(outcome.choices.count) choices; --schedule replays one")
    print(reduced)
  }
  print("deterministic: \(programs) programs in the orders of their seeds, \(ran) operations ran, \(failures) failures")
  return failures == 0
}

func fuzz(_ backend: TestBackend, _ options: RunnerOptions) -> Bool {
  if backend.name == "deterministic", !fuzzSchedules(options) { return false }
  var settings = options.settings
  settings.shrinks = false
  settings.isSlowAgain = { ChildShrinker(backend: backend, options: options).isSlowAgain($0) }
  let report = DifferentialRun.run(backend, settings)
  print(report.summary)
  for failed in report.failures {
    print("FAILED: seed \(failed.seed), program \(failed.after) of this run, on \(backend.name)")
    show(failed.failure, withJournal: options.showsJournal)
    fflush(nil)
    print(ChildShrinker(backend: backend, options: options).shrink(failed.program, category: failed.failure.category))
  }
  return report.failures.isEmpty
}

extension [String] {
  /// Without the options that name backends.
  var withoutBackends: [String] {
    indices.filter { self[$0] != "--backend" && ($0 == 0 || self[$0 - 1] != "--backend") }.map { self[$0] }
  }
}

do {
  let words = Array(CommandLine.arguments.dropFirst())
  let options = try RunnerOptions(words)
  var passed = true
  for backend in allBackends where options.backends.isEmpty || options.backends.contains(backend.name) {
    if options.prints {
      for program in DifferentialRun.programs(for: backend, options.settings) { print(program) }
    } else if let path = options.replayed {
      passed = try replay(path, on: backend, options) && passed
    } else if !options.isInProcess {
      passed = CrashSearch(backend: backend, options: options).run(words.withoutBackends) && passed
    } else {
      passed = fuzz(backend, options) && passed
    }
    fflush(nil)
  }
  exit(passed ? 0 : 1)
} catch is RunnerOptions.Help {
  print(RunnerOptions.usage)
  exit(0)
} catch let misuse as RunnerOptions.Misuse {
  print(misuse.text)
} catch {
  print(error)
}
exit(64)
