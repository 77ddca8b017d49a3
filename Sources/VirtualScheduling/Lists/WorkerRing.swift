/// Numbers of workers in the order in which they fell asleep; each call O(1), growing amortised.
struct WorkerRing {
  private var slots: [Int] = []
  private var first = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ worker: Int) {
    if count == slots.count { grow() }
    slots[(first + count) & (slots.count - 1)] = worker
    count += 1
  }

  mutating func popFirst() -> Int? {
    if count == 0 { return nil }
    defer {
      first = (first + 1) & (slots.count - 1)
      count -= 1
    }
    return slots[first]
  }

  mutating func popLast() -> Int? {
    if count == 0 { return nil }
    count -= 1
    return slots[(first + count) & (slots.count - 1)]
  }

  private mutating func grow() {
    var larger = [Int](repeating: 0, count: max(4, 2 * slots.count))
    for index in 0..<count { larger[index] = slots[(first + index) & (slots.count - 1)] }
    slots = larger
    first = 0
  }
}
