import CPlatform
import DeterministicOperations
import Dispatch
import Operations
import TestSupport
import Testing

/// The main actor of a test belongs to its seed, and stays the only one of the process.
@Suite("The main actor of seeded tests")
struct SeededMainActorTests {
  private struct Wrong: Error {}

  /// What is written down on the main actor.
  @MainActor private final class Board {
    private(set) var words: [String] = []

    func add(_ word: String) {
      MainActor.preconditionIsolated()
      let before = words
      // Long enough for another thread to come in between.
      for _ in 0..<100 { cplatform_pause() }
      words = before + [word]
    }
  }

  @Test("the main actor of a test belongs to the seed, and so does its time")
  func mainActor() async throws {
    @Sendable func run(_ backend: DeterministicBackend) async throws -> [String] {
      let board = Board()
      let tasks = (0..<3).map { number in
        Task {
          await board.add("task \(number)")
          await Task.yield()
          await board.add("task \(number) again")
        }
      }
      let sleeper = Task { @MainActor in
        try await Task.sleep(for: .seconds(3_600))
        board.add("an hour later")
      }
      for task in tasks { await task.value }
      try await sleeper.value
      #expect(backend.now >= .seconds(3_600) && backend.now < .seconds(3_601))
      return await board.words
    }
    var orders: Set<[String]> = []
    for seed in 0..<20 as Range<UInt64> {
      let order = try await withSeededTasks(seed: seed, patience: .seconds(100), mayLeave: false, run)
      #expect(try await withSeededTasks(seed: seed, patience: .seconds(100), mayLeave: false, run) == order)
      #expect(order.count == 7 && order.last == "an hour later")
      orders.insert(order)
    }
    #expect(orders.count > 5)
  }

  @Test("jobs of the main actor go on in the order in which they came, as on the main thread")
  func mainActorOrder() async throws {
    for seed in 0..<20 as Range<UInt64> {
      try await withSeededTasks(seed: seed, patience: .seconds(100), mayLeave: false) { @MainActor _ in
        let board = Board()
        let tasks = (0..<10).map { number in Task { @MainActor in board.add("\(number)") } }
        #expect(board.words.isEmpty)
        for task in tasks { await task.value }
        #expect(board.words == (0..<10).map { "\($0)" })
      }
    }
  }

  @Test("tests and the main thread share one main actor")
  func oneMainActor() async throws {
    let board = Board()
    let outside = Task { for _ in 0..<500 { await board.add("outside") } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 0..<3 as Range<UInt64> {
        group.addTask {
          try await withSeededTasks(seed: seed, patience: .seconds(100)) { _ in
            for _ in 0..<500 { await board.add("inside") }
          }
        }
      }
      try await group.waitForAll()
    }
    await outside.value
    let words = await board.words
    #expect(words.count == 2_000 && words.count { $0 == "outside" } == 500)
  }

  @Test("the main thread does not wait for a test, which may wait for the main thread")
  func mainThreadGoesOn() async throws {
    let board = Board()
    let outside = Task { for _ in 0..<100 { await board.add("outside") } }
    try await withSeededTasks(seed: 1, patience: .seconds(100)) { _ in
      for _ in 0..<20 {
        await Task { @MainActor in
          Self.onMainQueue {}
          board.add("inside")
        }.value
      }
    }
    await outside.value
    #expect(await board.words.count == 120)
  }

  private static func onMainQueue(_ body: () -> Void) { DispatchQueue.main.sync(execute: body) }
  private static func wait(for operation: Operation) { operation.waitUntilFinished() }

  @Test("a failed test gives up what waits on the main actor, and others have the main actor")
  func givenUpMainActor() async throws {
    await #expect(throws: Wrong.self) {
      try await withSeededTasks(seed: 1, patience: .milliseconds(50)) { _ in
        let never = AsynchronousOperation { _ in }
        OperationQueue().addOperation(never)
        Task { @MainActor in Self.wait(for: never) }
        try await Task.sleep(for: .seconds(1))
        throw Wrong()
      }
    }
    try await withSeededTasks(seed: 2, patience: .seconds(100)) { _ in await MainActor.run {} }
    await Task { @MainActor in }.value
  }

  @Test("what stands in the line of the main actor runs, also where a test polls or ends")
  func mainActorLine() async throws {
    let board = Board()
    try await withSeededTasks(seed: 3, patience: .seconds(100)) { @MainActor backend in
      for number in 0..<100 { Task { @MainActor in board.add("\(number)") } }
      // A task on the main actor that polls lets time pass.
      await SeededTaskTests.poll(backend)
      for number in 100..<200 { Task { @MainActor in board.add("\(number)") } }
    }
    #expect(await board.words == (0..<200).map { "\($0)" })
  }

  @Test("what is due when the body ends runs, also behind many steps at one instant, and a task that polls is left")
  func manyLeft() async throws {
    for count in [9_900, 10_100, 20_000] {
      let (ran, polls, board) = (Counter(), Counter(), Board())
      try await withSeededTasks(seed: 3, patience: .seconds(100)) { _ in
        for _ in 0..<count { Task { _ = ran.increment() } }
        for number in 0..<10 { Task { @MainActor in board.add("\(number)") } }
        if count > 10_000 { await Task.yield() }
        if count > 15_000 {
          Task {
            while true {
              polls.increment()
              await Task.yield()
            }
          }
        }
      }
      #expect(ran.value == count && polls.value <= 100_000)
      #expect(await board.words == (0..<10).map { "\($0)" })
    }
  }
}
