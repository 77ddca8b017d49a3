/// What a closure captures, or a node gives: tells how many of its kind are alive.
public final class Captured: Sendable {
  private let alive: Monitor<Int>

  public init(_ alive: Monitor<Int>) {
    self.alive = alive
    alive.with { $0 += 1 }
  }

  deinit { alive.with { $0 -= 1 } }
}
