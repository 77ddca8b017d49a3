#if HTTP
  import Synchronization

  /// Lets a limited number of requests of each host in, and the others wait in order.
  ///
  /// The client has a limit of its own, with a queue. A request waits there for as long as opening a connection may
  /// take, and then it fails. Behind this gate none waits there.
  final class HostGate: Sendable {
    private struct Host {
      var inside = 0
      var order: [UInt64] = []
      /// `order` before this index has been served.
      var first = 0
      /// A waiting request that is cancelled leaves here, and stays in `order`.
      var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]

      mutating func next() -> CheckedContinuation<Void, any Error>? {
        defer {
          if first > 64, first * 2 > order.count {
            order.removeFirst(first)
            first = 0
          }
        }
        while first < order.count {
          first += 1
          if let continuation = waiting.removeValue(forKey: order[first - 1]) { return continuation }
        }
        return nil
      }
    }
    private struct State {
      var hosts: [String: Host] = [:]
      var lastID: UInt64 = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Returns when the request may go on. Each return needs one `leave`. Throws `CancellationError` when the task is
    /// cancelled.
    func enter(_ name: String) async throws {
      let id = state.withLock {
        $0.lastID += 1
        return $0.lastID
      }
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
          let result: Result<Void, any Error>? = state.withLock {
            // `onCancel` finds the request among the waiting, or has set this before it looked.
            if Task.isCancelled { return .failure(CancellationError()) }
            if $0.hosts[name, default: Host()].inside < limit {
              $0.hosts[name, default: Host()].inside += 1
              return .success(())
            }
            $0.hosts[name]?.order.append(id)
            $0.hosts[name]?.waiting[id] = continuation
            return nil
          }
          if let result { continuation.resume(with: result) }
        }
      } onCancel: {
        let continuation = state.withLock { $0.hosts[name]?.waiting.removeValue(forKey: id) }
        continuation?.resume(throwing: CancellationError())
      }
    }

    func leave(_ name: String) {
      let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        if let next = state.hosts[name]?.next() { return next }
        state.hosts[name]?.inside -= 1
        if state.hosts[name]?.inside == 0 { state.hosts[name] = nil }
        return nil
      }
      next?.resume()
    }
  }
#endif
