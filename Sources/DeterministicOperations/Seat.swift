import Primitives

/// Where a real thread sleeps until it has its turn.
final class Seat: Sendable {
  let parker = Parker()
}
