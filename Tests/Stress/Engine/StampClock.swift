import Synchronization

/// Puts the events of all threads in one order without measuring time.
///
/// Relaxed on purpose: an event that happens before another one gets the smaller stamp all the same, and taking stamps
/// orders nothing else, so that ThreadSanitizer still sees what the library under test fails to order.
final class StampClock: Sendable {
  private let last = Atomic<Int>(0)

  /// From 1 on; 0 stands for "never".
  func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
