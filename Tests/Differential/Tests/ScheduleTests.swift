import DeterministicOperations
import OperationBackends
import TestSupport
import Testing

@testable import DifferentialEngine

/// Programs in orders that can be replayed, and what becomes of one that fails.
@Suite(.serialized) struct ScheduleTests {
  @Test func `random programs do what the model says, in the orders of seeds`() throws {
    var ran = 0
    for seed in 1...400 as ClosedRange<UInt64> {
      let program = ProgramGenerator.program(seed: seed, features: .all, mayStarve: true)
      let outcome = Schedule.run(program, seed: seed)
      ran += outcome.ran
      #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure.map { "\($0)" } ?? "")\n\(program)")
    }
    #expect(ran > 400)
  }

  @Test func `a schedule makes the same run again`() {
    for seed in 1...60 as ClosedRange<UInt64> {
      let program = ProgramGenerator.program(seed: seed, features: .all, mayStarve: true)
      let first = Schedule.run(program, seed: seed)
      let second = Schedule(program, choices: first.choices).run()
      #expect(second.choices == first.choices && second.ran == first.ran, "seed \(seed)")
    }
  }

  /// Loses a job that begins after one that was submitted later: the plain order shows nothing of it.
  private final class LosingBackend: Backend {
    let base: DeterministicBackend
    private let submitted = Counter()
    private let latest = Monitor(0)

    init(_ base: DeterministicBackend) { self.base = base }

    var name: String { "losing" }
    var workerCount: Int { base.workerCount }

    func submit(_ job: Job) {
      let number = submitted.increment()
      base.submit(
        Job(priority: job.priority) { [self] in
          let isInOrder = latest.with { latest in
            defer { latest = max(latest, number) }
            return number > latest
          }
          var next: Job? = isInOrder ? job : nil
          while let job = next { next = job.run() }
        })
    }
  }

  @Test func `a planted defect is reduced to the least program and the least schedule`() throws {
    var setting = Schedule.Setting()
    setting.wrap = { LosingBackend($0) }
    setting.patience = 0.5
    let chosen = setting
    let program = try Program(
      text: """
        backend 2
        queue 0 -1
        queue 0 2
        op main
        op main pass:0
        op closure
        op main wait:0
        op asynchronous
        op main
        op main
        add 0 0
        add 4 1
        completion 5
        add 1 0
        add 5 0
        add 2 0
        add 3 1
        settle
        open 0
        add 6 0
        settle
        """)
    let failing = try #require(
      (0..<200 as Range<UInt64>).lazy.map { Schedule.run(program, seed: $0, chosen) }
        .first { $0.failure?.category == "hang" })
    let small = ScheduleShrinker(chosen, category: "hang").shrink(Schedule(program, choices: failing.choices))
    #expect(small.run(chosen).failure?.category == "hang")
    // One operation of a queue with a limit is enough: two of the queue's tickets change places.
    #expect(small.program.statements.count <= 2 && small.program.operations.count <= 2, "\(small)")
    #expect(small.choices.count < failing.choices.count && small.choices.contains { $0 != 0 }, "\(small)")
    // The plain order does not show it.
    #expect(Schedule(small.program, choices: []).run(chosen).failure == nil, "\(small)")
    // Every choice that is left is needed.
    for place in small.choices.indices where small.choices[place] != 0 {
      var choices = small.choices
      choices[place] = 0
      #expect(Schedule(small.program, choices: choices).run(chosen).failure?.category != "hang", "\(small)")
    }
    print("reduced from \(program.statements.count) statements and \(failing.choices.count) choices:\n\(small)")
  }
}
