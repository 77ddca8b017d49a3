import Glibc
import TestSupport

/// The events of one program, appended by all threads, read by the controlling thread.
final class Journal: Sendable {
  private let events = Monitor<[Event]>([])

  /// Between the check and the append nothing else is appended.
  /// - Returns: what the check returned.
  @discardableResult
  func append(_ event: Event) -> Int {
    events.with {
      $0.append(event)
      return $0.count
    }
  }

  /// Everything from the given position on.
  func events(from position: Int) -> ArraySlice<Event> {
    events.with { $0.count > position ? $0[position...] : [] }
  }

  var all: [Event] { events.value }

  /// Waits for more than `count` events.
  func wait(beyond count: Int, seconds: Double) -> Bool { events.wait(seconds: seconds) { $0.count > count } }
}
