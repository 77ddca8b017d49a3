import Synchronization

/// Remembers words, and how often it knew one already.
final class WordCache: Sendable {
  private let state = Mutex((known: Set<Substring>(), hits: 0))

  func use(_ word: Substring) {
    state.withLock { if !$0.known.insert(word).inserted { $0.hits += 1 } }
  }

  /// Knows no word any more. The hits stay.
  func forget() { state.withLock { $0.known.removeAll(keepingCapacity: true) } }

  var words: Int { state.withLock { $0.known.count } }

  /// The hits since the last call.
  func takeHits() -> Int {
    state.withLock { state in
      defer { state.hits = 0 }
      return state.hits
    }
  }
}
