import Primitives

/// The numbers of backends: see `BackendHome.number`. They are touched when homes come and go.
final class BackendNumbers: @unchecked Sendable {
  // Sendable: `known` and `next` are touched under `lock`.
  private let lock = FutexLock()
  private var known: [ObjectIdentifier: (number: UInt32, homes: Int)] = [:]
  private var next: UInt32 = 1

  static let shared = BackendNumbers()

  /// A number for the only home of a backend.
  func take() -> UInt32 { lock.withLock { takeNext() } }

  /// Called with the lock.
  private func takeNext() -> UInt32 {
    defer { next = next == .max ? 1 : next + 1 }
    return next
  }

  /// The number of a backend that has a home for each user of it. `giveBack` ends the home.
  func take(for id: ObjectIdentifier) -> UInt32 {
    lock.withLock {
      if let (number, homes) = known[id] {
        known[id] = (number, homes + 1)
        return number
      }
      let number = takeNext()
      known[id] = (number, 1)
      return number
    }
  }

  func giveBack(for id: ObjectIdentifier) {
    lock.withLock {
      guard let (number, homes) = known[id] else { return }
      known[id] = homes > 1 ? (number, homes - 1) : nil
    }
  }
}
