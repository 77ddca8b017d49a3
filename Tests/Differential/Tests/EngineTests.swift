import OperationBackends
import TestSupport
import Testing

@testable import DifferentialEngine

/// The engine finds what is broken, and makes it small.
@Suite struct EngineTests {
  /// A backend that loses jobs.
  private final class ForgetfulBackend: Backend {
    let name = "forgetful"
    let workerCount = 4
    private let threads = ThreadPerJobBackend()
    private let count = Counter()

    func submit(_ job: Job) { if count.increment() % 3 != 0 { threads.submit(job) } }
  }

  @Test func `a lost job is a hang`() throws {
    let program = try Program(
      text: "backend 2\nqueue 0 -1\nop main\nop main\nop main\nadd 0 0\nadd 1 0\nadd 2 0\nsettle")
    let execution = Execution(
      program, features: .all, isOrdered: false, backends: [ForgetfulBackend()], helper: Helper(), patience: 0.5,
      position: Monitor(""))
    let failure = try #require(throws: ProgramFailure.self) { try execution.run() }
    #expect(failure.category == "hang" && failure.text.hasPrefix("2 must start"))
  }

  /// The objects are not what the program built: somebody suspended a queue behind the model's back.
  @Test func `a wrong state is seen`() throws {
    let program = try Program(text: "backend 2\nqueue 0 -1 suspended\nop main\nadd 0 0\nsettle")
    try TestBackend.threadPool.withBackend { backend in
      let execution = Execution(
        program, features: .all, isOrdered: true, backends: [backend], helper: Helper(), patience: 0.5,
        position: Monitor(""))
      execution.perform(program.statements[0])
      execution.state.operation(0)?.cancel()
      let failure = try #require(throws: ProgramFailure.self) { try execution.settle() }
      #expect(failure.category == "state" && failure.text.hasPrefix("isCancelled of 0"))
      execution.state.queue(0)?.isSuspended = false
    }
  }

  @Test func `the shrinker keeps what a failure needs, and nothing else`() throws {
    let program = (1...UInt64.max).lazy
      .map { ProgramGenerator.program(seed: $0, features: .all, mayStarve: true) }
      .first {
        $0.statements.contains(.settle) && $0.statements.contains(where: Self.isCancelAll) && $0.operations.count > 3
      }
    let big = try #require(program)
    let small = Shrinker { $0.statements.contains(where: Self.isCancelAll) && $0.operations.count > 2 }.shrink(big)
    #expect(small.statements.count == 1 && small.statements.contains(where: Self.isCancelAll))
    #expect(small.operations.allSatisfy { $0 == .init(kind: .main) })
  }

  private static func isCancelAll(_ statement: Statement) -> Bool {
    if case .cancelAll = statement { true } else { false }
  }

  @Test func `the same seed makes the same program, another seed another one`() {
    func program(_ seed: UInt64) -> Program { ProgramGenerator.program(seed: seed, features: .all, mayStarve: true) }
    #expect(program(7) == program(7))
    #expect(program(7) != program(8))
  }

  @Test func `the text of a program makes the same program again`() throws {
    for seed in 1...500 as ClosedRange<UInt64> {
      let program = ProgramGenerator.program(seed: seed, features: .all, mayStarve: true)
      #expect(try Program(text: program.description) == program)
    }
    #expect(throws: ProgramTextError.self) { try Program(text: "queue zero") }
    #expect(throws: ProgramTextError.self) { try Program(text: "backend 1\nqueue 0 1\nadd 3 0") }
  }

  /// Everything that the grammar knows is drawn.
  @Test func `generated programs have everything`() {
    var words: Set<Substring> = []
    for seed in 1...3_000 as ClosedRange<UInt64> {
      let text = ProgramGenerator.program(seed: seed, features: .all, mayStarve: true).description
      for line in text.split(separator: "\n") {
        words.insert(line.prefix { $0 != " " })
        if line.hasPrefix("op ") { for word in line.split(separator: " ") { words.insert(word.prefix { $0 != ":" }) } }
      }
    }
    let expected: [Substring] = [
      "add", "batch", "barrier", "depend", "undepend", "cancel", "cancel-all", "priority", "quality", "queue-quality",
      "limit", "suspend", "resume", "completion", "observe", "observe-queue", "observe-ready-and-wait", "open",
      "finish",
      "flip", "start", "wait", "wait-queue", "settle", "release", "blocks", "main", "closure", "asynchronous",
      "hand-written", "conditional", "pass", "join", "graph", "raise", "helper",
    ]
    #expect(words.isSuperset(of: expected), "missing: \(expected.filter { !words.contains($0) })")
  }
}
