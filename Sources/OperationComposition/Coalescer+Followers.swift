import OperationCore
import OperationExecutors
import Operations
import Synchronization

/// The requests that the body of a coalesced operation has made, and the priority that they follow.
final class Followers: Sendable {
  /// Those of the coalesced operation whose body runs here.
  @TaskLocal static var current: Followers?

  private struct State {
    var priority = Operation.QueuePriority.normal
    var requests: [ObjectIdentifier: Weak] = [:]
  }

  private struct Weak: Sendable {
    weak let request: (any FollowingRequest)?
  }

  private let state = Mutex(State())
  /// What the body is asked for, for people.
  let name: @Sendable () -> String

  init(_ name: @escaping @Sendable () -> String) { self.name = name }

  var priority: Operation.QueuePriority { state.withLock { $0.priority } }

  /// The request is in its coalescer already: what changes from now on reaches it.
  func add(_ request: any FollowingRequest) {
    state.withLock { $0.requests[ObjectIdentifier(request)] = Weak(request: request) }
    settle(request)
  }

  func remove(_ request: ObjectIdentifier) { state.withLock { _ = $0.requests.removeValue(forKey: request) } }

  func apply(_ priority: Operation.QueuePriority) {
    let requests = state.withLock { state in
      state.priority = priority
      return state.requests.values.compactMap(\.request)
    }
    // A request that changes changes those of its own body.
    for request in requests { LongChain.step { self.settle(request) } }
  }

  /// Two threads may set a request's priority at the same time. Each thread reads the wanted priority again after its
  /// own store. So the thread that stores last sees the newest priority.
  private func settle(_ request: any FollowingRequest) {
    var wanted = priority
    while request.priority != wanted {
      request.priority = wanted
      wanted = priority
    }
  }
}

protocol FollowingRequest: AnyObject, Sendable {
  var priority: Operation.QueuePriority { get set }
}
