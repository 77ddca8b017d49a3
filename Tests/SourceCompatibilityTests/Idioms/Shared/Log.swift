#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// What happened, one track for each actor, so that the order of two threads does not matter.
final class Log: @unchecked Sendable {
  // Sendable: the tracks are touched on one serial queue.
  private let serial = DispatchQueue(label: "Log")
  private var tracks: [String: [String]] = [:]

  func note(_ event: String, of track: String = "operation") {
    serial.sync { tracks[track, default: []].append(event) }
  }

  func has(_ event: String, of track: String = "operation") -> Bool {
    serial.sync { tracks[track, default: []].contains(event) }
  }

  var text: String {
    serial.sync {
      tracks.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " "))" }
        .joined(separator: "; ")
    }
  }
}

/// A door that opens once.
final class Gate: @unchecked Sendable {
  // Sendable: a semaphore.
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  /// Each call of `pass` needs a call of `open`; the limit is a safety net.
  @discardableResult
  func pass(_ seconds: Double = 20) -> Bool { semaphore.wait(timeout: .now() + seconds) == .success }
}
