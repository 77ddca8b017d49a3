import TestSupport

/// Operations that have been added, for other threads to depend on, wait for, cancel and look at. Forgets old ones at
/// random, so that many are deallocated while the round goes on.
final class RecentOperations: Sendable {
  private struct State {
    var kept: [any RecordedOperation] = []
    var random: SeededGenerator
  }

  private let state: Monitor<State>
  private static let limit = 100

  init(random: SeededGenerator) { state = Monitor(State(random: random)) }

  func publish(_ operations: [any RecordedOperation]) {
    // What is forgotten is deallocated after the lock is free.
    let forgotten = state.with { state in
      state.kept += operations
      var forgotten: [any RecordedOperation] = []
      while state.kept.count > Self.limit {
        state.kept.swapAt(state.random.pick(0...(state.kept.count - 1)), state.kept.count - 1)
        forgotten.append(state.kept.removeLast())
      }
      return forgotten
    }
    withExtendedLifetime(forgotten) {}
  }

  /// Up to `count` different ones.
  func some(_ count: Int, _ random: inout SeededGenerator) -> [any RecordedOperation] {
    guard count > 0 else { return [] }
    var choices = random.split()
    // An array of its own, not one that shares memory with `kept`: the thread sanitizer cannot see who else still reads
    // that.
    return state.with { $0.kept.shuffled(using: &choices).prefix(count).map { $0 } }
  }

  func one(_ random: inout SeededGenerator) -> (any RecordedOperation)? { some(1, &random).first }

  func clear() {
    let all = state.with { state in
      defer { state.kept = [] }
      return state.kept
    }
    withExtendedLifetime(all) {}
  }
}
