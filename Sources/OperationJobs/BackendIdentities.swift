import Primitives

/// Small numbers for backends: with such a number an operation remembers its backend in four bytes. The numbers are
/// touched when queues come and go.
final class BackendIdentities: @unchecked Sendable {
  // Sendable: `known` and `next` are touched under `lock`.
  private let lock = FutexLock()
  private var known: [ObjectIdentifier: (identity: UInt32, boxes: Int)] = [:]
  private var next: UInt32 = 1

  static let shared = BackendIdentities()

  func take(for backend: any Backend) -> UInt32 {
    lock.withLock {
      let id = ObjectIdentifier(backend)
      if let (identity, boxes) = known[id] {
        known[id] = (identity, boxes + 1)
        return identity
      }
      defer { next = next == .max ? 1 : next + 1 }
      known[id] = (next, 1)
      return next
    }
  }

  func giveBack(for id: ObjectIdentifier) {
    lock.withLock {
      guard let (identity, boxes) = known[id] else { return }
      known[id] = boxes > 1 ? (identity, boxes - 1) : nil
    }
  }
}
