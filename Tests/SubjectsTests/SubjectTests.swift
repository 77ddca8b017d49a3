import LaboratorySupport
import Synchronization
import TestSupport
import Testing

@testable import Subjects

/// What the subjects promise beyond what the benchmarks check.
@Suite(.ownThread) struct SubjectTests {
  /// Runs a test for every subject.
  struct Visitor: SubjectVisitor {
    let test: any GenericTest

    mutating func visit<S: ClosureSubject>(_ subject: S.Type) { test.run(S.self) }
    mutating func visit<S: CancellableSubject>(_ subject: S.Type) { test.run(S.self) }
    mutating func visit<S: OperationSubject>(_ subject: S.Type) { test.run(S.self) }
  }

  protocol GenericTest {
    func run<S: ClosureSubject>(_ type: S.Type)
  }

  final class Count: Sendable {
    let value = Atomic<Int>(0)
    func increment() { value.wrappingAdd(1, ordering: .relaxed) }
    var current: Int { value.load(ordering: .acquiring) }
  }

  /// `drain` waits for what was submitted one by one and in one go, again and again.
  struct Drains: GenericTest {
    func run<S: ClosureSubject>(_ type: S.Type) {
      let subject = S(workers: 2)
      let count = Count()
      for round in 1...20 {
        for _ in 0..<50 { subject.submit { count.increment() } }
        subject.addAll { adder in
          for _ in 0..<50 { adder.submit { count.increment() } }
        }
        subject.drain()
        #expect(count.current == round * 100, "\(S.name)")
      }
    }
  }

  /// The join comes after everything it joins, and also when that is nothing.
  struct Joins: GenericTest {
    func run<S: ClosureSubject>(_ type: S.Type) {
      let subject = S(workers: 2)
      for width in [0, 1, 100] {
        let count = Count()
        let seen = Count()
        let joins = Count()
        subject.submit(
          width, { _ in count.increment() },
          then: {
            seen.value.store(count.current, ordering: .relaxed)
            joins.increment()
          })
        subject.drain()
        // Dispatch's barrier covers what was submitted before it, which the join of a group need not be.
        while joins.current == 0 { subject.drain() }
        #expect(joins.current == 1 && seen.current == width, "\(S.name)")
      }
    }
  }

  @Test func drainWaits() throws {
    var visitor = Visitor(test: Drains())
    SubjectRegistry.visitAll(&visitor)
  }

  @Test func joinsComeLast() throws {
    var visitor = Visitor(test: Joins())
    SubjectRegistry.visitAll(&visitor)
  }

  /// In the order in which they were submitted, on the calling thread, without recursion.
  @Test func serialRunsInOrder() {
    let subject = SerialSubject(workers: 1)
    nonisolated(unsafe) var order: [Int] = []
    subject.submit {
      order.append(0)
      for index in 1...3 {
        subject.submit {
          order.append(index)
          if index == 1 { subject.submit { order.append(4) } }
        }
      }
    }
    #expect(order == [0, 1, 2, 3, 4])
    nonisolated(unsafe) var depth = 0
    @Sendable func next(_ left: Int) {
      depth += 1
      #expect(depth == 1)
      if left > 0 { subject.submit { next(left - 1) } }
      depth -= 1
    }
    subject.submit { next(100_000) }
  }

  /// More closures than threads, each of which submits another.
  @Test func threadsAreBounded() {
    let subject = ThreadsSubject(workers: 1)
    let alive = Count()
    let most = Atomic<Int>(0)
    let ran = Count()
    for _ in 0..<600 {
      subject.submit {
        alive.increment()
        most.max(alive.current, ordering: .relaxed)
        subject.submit { ran.increment() }
        ran.increment()
        alive.value.wrappingSubtract(1, ordering: .relaxed)
      }
    }
    subject.drain()
    #expect(ran.current == 1_200)
    #expect(most.load(ordering: .relaxed) <= ThreadsSubject.mostThreads)
  }

  @Test func rolesAreAsTheSpecificationSays() {
    #expect(SubjectRegistry.references == ["foundation", "raw-dispatch"])
    #expect(
      SubjectRegistry.all.filter { $0.role == .peer }.map(\.name) == [
        "tbb", "tbb-flow", "openmp-gcc", "openmp-llvm", "starpu", "rayon", "tokio", "go", "tbb-successors", "java",
        "taskflow", "libfork", "citor", "toomanycooks", "zig",
      ])
    #expect(SubjectRegistry.all.allSatisfy { !$0.summary.isEmpty && !$0.summary.contains("\n") })
    #expect(SubjectRegistry.all.filter { !$0.abilities.contains(.threads) }.map(\.name) == ["nio-loop", "serial"])
  }

  /// The report gives a bare backend the colour of its queue, which it knows by the name.
  @Test func bareSubjectsAreNamedForTheirQueues() {
    let ours = SubjectRegistry.all.filter { $0.role == .ours }.map(\.name)
    let bare = SubjectRegistry.all.filter { $0.role == .bare }.map(\.name)
    #expect(bare == ours.map { "\($0)-bare" })
  }
}
