/// No queue at all: each body runs where it is submitted. What a benchmark takes on it is what the benchmark itself
/// costs, which `opbench validate` reports.
package final class EmptySubject: ClosureSubject {
  package static var name: String { "empty" }
  package static var summary: String { "no queue at all, for validate" }
  package static var role: SubjectRole { .reference }
  package static var abilities: Abilities { [] }
  package static var workersAreAdjustable: Bool { false }

  package init(workers: Int) {}

  @inlinable package func submit(_ body: @escaping @Sendable () -> Void) { body() }

  @inlinable
  package func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    for index in 0..<count { body(index) }
    join()
  }

  @inlinable package func drain() {}
}
