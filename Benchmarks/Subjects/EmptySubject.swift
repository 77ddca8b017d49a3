import HarnessWords

/// No queue at all: each body runs where it is submitted. The time of a benchmark on this subject is the cost of the
/// benchmark itself, which `opbench validate` reports.
public final class EmptySubject: ClosureSubject {
  public static var name: String { "empty" }
  public static var summary: String { "no queue at all, for validate" }
  public static var role: SubjectRole { .control }
  public static var abilities: Abilities { [] }
  public static var workersAreAdjustable: Bool { false }

  public init(workers: Int) {}

  @inlinable public func submit(_ body: @escaping @Sendable () -> Void) { body() }

  @inlinable
  public func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    for index in 0..<count { body(index) }
    join()
  }

  @inlinable public func drain() {}
}
