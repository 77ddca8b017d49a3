import DeterministicOperations
import ImagePipeline
import OperationComposition
import Synchronization
import Testing

@Suite("Memory cache")
struct MemoryCacheTests {
  @Test("the least recently used leaves first, by cost and by count")
  func order() {
    let cache = MemoryCache<Int, Int>(costLimit: 100, countLimit: 4)
    for number in 1...3 { cache.store(number, for: number, cost: 30) }
    #expect(cache.cost == 90 && cache.count == 3)
    // Reading makes 1 the newest: 2 is the oldest now.
    #expect(cache.value(for: 1) == 1)
    cache.store(4, for: 4, cost: 30)
    #expect(cache.value(for: 2) == nil)
    #expect([1, 3, 4].allSatisfy { cache.value(for: $0) == $0 })
    // A new value of a key takes the place of the old one.
    cache.store(30, for: 3, cost: 10)
    #expect(cache.value(for: 3) == 30 && cache.cost == 70)
    cache.store(5, for: 5, cost: 1)
    cache.store(6, for: 6, cost: 1)
    #expect(cache.count == 4 && cache.value(for: 1) == nil)
    // What is too large alone is not kept, and nothing leaves for its sake. The old value of the key is gone.
    cache.store(60, for: 6, cost: 101)
    #expect(cache.value(for: 6) == nil && cache.count == 3)
    cache.removeAll()
    #expect(cache.count == 0 && cache.cost == 0)
  }

  @Test("limits of 0 keep nothing")
  func limitsOfZero() {
    let noCost = MemoryCache<Int, Int>(costLimit: 0)
    noCost.store(1, for: 1, cost: 1)
    let noCount = MemoryCache<Int, Int>(costLimit: 10, countLimit: 0)
    noCount.store(1, for: 1, cost: 0)
    #expect(noCost.count == 0 && noCount.count == 0)
  }

  @Test("a value older than the limit is not found, on the virtual clock")
  func age() {
    let backend = DeterministicBackend(seed: 1, runsByItself: false)
    defer { backend.shutdown() }
    let cache = MemoryCache<String, Int>(
      costLimit: 100, ageLimit: .seconds(10), clock: PipelineClock(backend.clock) { 0 })
    cache.store(1, for: "a", cost: 1)
    backend.advance(by: .seconds(5))
    cache.store(2, for: "b", cost: 1)
    backend.advance(by: .seconds(5))
    // Reading does not make a value younger.
    #expect(cache.value(for: "a") == 1)
    backend.advance(by: .nanoseconds(1))
    #expect(cache.value(for: "a") == nil && cache.value(for: "b") == 2)
    #expect(cache.count == 1 && cache.cost == 1)
    // Storing does.
    cache.store(3, for: "b", cost: 1)
    backend.advance(by: .seconds(10))
    #expect(cache.value(for: "b") == 3)
  }

  /// Does the same with lists that are searched from end to end.
  private struct Model {
    var entries: [(key: Int, value: Int, cost: Int, stored: Duration)] = []
    let costLimit, countLimit: Int
    let ageLimit: Duration

    mutating func value(for key: Int, at now: Duration) -> Int? {
      guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
      let entry = entries.remove(at: index)
      if now - entry.stored > ageLimit { return nil }
      entries.append(entry)
      return entry.value
    }

    mutating func store(_ value: Int, for key: Int, cost: Int, at now: Duration) {
      entries.removeAll { $0.key == key }
      guard cost <= costLimit, countLimit > 0 else { return }
      entries.append((key, value, cost, now))
      while entries.reduce(0, { $0 + $1.cost }) > costLimit || entries.count > countLimit { entries.removeFirst() }
    }
  }

  @Test("the cache does what a simple model does", arguments: 1...100 as ClosedRange<UInt64>)
  func comparison(seed: UInt64) {
    let now = Mutex(Duration.zero)
    let backend = DeterministicBackend(seed: seed, runsByItself: false)
    defer { backend.shutdown() }
    let clock = PipelineClock(backend.clock) { 0 }
    var generator = SeededGenerator(seed: seed)
    let limits = (Int.random(in: 0...60, using: &generator), Int.random(in: 0...12, using: &generator))
    let cache = MemoryCache<Int, Int>(costLimit: limits.0, countLimit: limits.1, ageLimit: .seconds(20), clock: clock)
    var model = Model(costLimit: limits.0, countLimit: limits.1, ageLimit: .seconds(20))
    for step in 0..<400 {
      let key = Int.random(in: 0..<16, using: &generator)
      let time = now.withLock { $0 }
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<9:
        let cost = Int.random(in: 0...20, using: &generator)
        cache.store(step, for: key, cost: cost)
        model.store(step, for: key, cost: cost, at: time)
      case 9..<18: #expect(cache.value(for: key) == model.value(for: key, at: time))
      case 18:
        let passes = Duration.seconds(Int.random(in: 0...8, using: &generator))
        backend.advance(by: passes)
        now.withLock { $0 += passes }
      default:
        guard Int.random(in: 0..<10, using: &generator) == 0 else { continue }
        cache.removeAll()
        model.entries = []
      }
      #expect(cache.count == model.entries.count)
      #expect(cache.cost == model.entries.reduce(0) { $0 + $1.cost })
    }
  }

  @Test("threads that read, store and empty at once leave a sound cache")
  func threads() async throws {
    let cache = MemoryCache<Int, Int>(costLimit: 200, countLimit: 20)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 0..<4 {
        group.addTask {
          try await Surroundings.spawn {
            var generator = SeededGenerator(seed: UInt64(seed))
            for _ in 0..<5000 {
              let key = Int.random(in: 0..<50, using: &generator)
              if Bool.random(using: &generator) { cache.store(key, for: key, cost: key) }
              if let found = cache.value(for: key) { #expect(found == key) }
              if Int.random(in: 0..<1000, using: &generator) == 0 { cache.removeAll() }
            }
          }.value
        }
      }
      try await group.waitForAll()
    }
    let found = (0..<50).filter { cache.value(for: $0) != nil }
    #expect(cache.count == found.count && cache.cost == found.reduce(0, +))
    #expect(cache.count <= 20 && cache.cost <= 200)
  }
}
