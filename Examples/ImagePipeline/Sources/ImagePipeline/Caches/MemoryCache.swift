import Synchronization

/// Values that are kept in memory: the least recently used leaves first. Each call is O(1).
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Node {
    var key: Key
    var value: Value
    var cost: Int
    var stored: PipelineClock.Instant
    var newer: Int?
    var older: Int?
  }

  /// A list from the newest to the oldest, whose nodes lie in an array. Free places are used again.
  private struct State {
    var places: [Key: Int] = [:]
    var nodes: [Node?] = []
    var free: [Int] = []
    var newest: Int?
    var oldest: Int?
    var cost = 0
    var generation = 0
  }

  private let state = Mutex(State())
  private let clock: PipelineClock
  private let costLimit: Int
  private let countLimit: Int
  private let ageLimit: Duration?

  /// - Parameters:
  ///   - costLimit: the sum of the costs, such as bytes. A value that alone costs more is not kept.
  ///   - countLimit: how many values are kept.
  ///   - ageLimit: a value older than that is not found any more; nil for no limit.
  public init(costLimit: Int, countLimit: Int = .max, ageLimit: Duration? = nil, clock: PipelineClock = .continuous) {
    precondition(costLimit >= 0 && countLimit >= 0, "the limits of a MemoryCache are 0 or more")
    (self.costLimit, self.countLimit, self.ageLimit, self.clock) = (costLimit, countLimit, ageLimit, clock)
  }

  public var count: Int { state.withLock { $0.places.count } }
  public var cost: Int { state.withLock { $0.cost } }
  /// How often `removeAll()` was called.
  public var generation: Int { state.withLock { $0.generation } }

  /// Finds a value and makes it the most recently used one.
  public func value(for key: Key) -> Value? {
    let now = ageLimit == nil ? nil : clock.now
    return state.withLock { state in
      guard let place = state.places[key], let node = state.nodes[place] else { return nil }
      if let now, let ageLimit, node.stored.duration(to: now) > ageLimit {
        Self.remove(place, from: &state)
        return nil
      }
      Self.unlink(place, from: &state)
      Self.linkNewest(place, in: &state)
      return node.value
    }
  }

  /// - Parameter generation: when `removeAll()` was called since this generation, nothing is stored; nil stores in any
  ///   case.
  public func store(_ value: Value, for key: Key, cost: Int, ifStill generation: Int? = nil) {
    let now = clock.now
    state.withLock { state in
      guard generation ?? state.generation == state.generation else { return }
      if let place = state.places[key] { Self.remove(place, from: &state) }
      guard cost <= costLimit, countLimit > 0 else { return }
      let node = Node(key: key, value: value, cost: cost, stored: now)
      let place: Int
      if let free = state.free.popLast() {
        place = free
        state.nodes[place] = node
      } else {
        place = state.nodes.count
        state.nodes.append(node)
      }
      state.places[key] = place
      state.cost += cost
      Self.linkNewest(place, in: &state)
      while state.cost > costLimit || state.places.count > countLimit, let oldest = state.oldest {
        Self.remove(oldest, from: &state)
      }
    }
  }

  public func removeAll() { state.withLock { $0 = State(generation: $0.generation + 1) } }

  private static func remove(_ place: Int, from state: inout State) {
    unlink(place, from: &state)
    guard let node = state.nodes[place] else { return }
    state.places[node.key] = nil
    state.cost -= node.cost
    state.nodes[place] = nil
    state.free.append(place)
  }

  private static func unlink(_ place: Int, from state: inout State) {
    guard let node = state.nodes[place] else { return }
    if let newer = node.newer { state.nodes[newer]?.older = node.older } else { state.newest = node.older }
    if let older = node.older { state.nodes[older]?.newer = node.newer } else { state.oldest = node.newer }
  }

  private static func linkNewest(_ place: Int, in state: inout State) {
    state.nodes[place]?.newer = nil
    state.nodes[place]?.older = state.newest
    if let newest = state.newest { state.nodes[newest]?.newer = place } else { state.oldest = place }
    state.newest = place
  }
}
