import Primitives

/// The numbers of backends: see `BackendHome.number`. They are touched when homes come and go.
final class BackendNumbers: @unchecked Sendable {
  // Sendable: `known` and `next` are touched under `lock`.
  private let lock = FutexLock()
  private var known: [ObjectIdentifier: (number: UInt32, homes: Int)] = [:]
  private var next: UInt32 = 1

  static let shared = BackendNumbers()

  func take(for id: ObjectIdentifier) -> UInt32 {
    lock.withLock {
      if let (number, homes) = known[id] {
        known[id] = (number, homes + 1)
        return number
      }
      defer { next = next == .max ? 1 : next + 1 }
      known[id] = (next, 1)
      return next
    }
  }

  func giveBack(for id: ObjectIdentifier) {
    lock.withLock {
      guard let (number, homes) = known[id] else { return }
      known[id] = homes > 1 ? (number, homes - 1) : nil
    }
  }
}
