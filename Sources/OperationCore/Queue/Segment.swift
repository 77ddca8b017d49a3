import Primitives
import Synchronization

/// A piece of the registry's array: a header and `capacity` slots, at a stable address.
struct Segment {
  static let capacity = 256
  private static let headerWords = 2

  let word: UInt

  init?(word: UInt) {
    guard word != 0 else { return nil }
    self.word = word
  }

  init(base: Int) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: (Self.headerWords + Self.capacity) * MemoryLayout<UInt>.stride, alignment: CacheLine.bytes)
    word = UInt(bitPattern: memory)
    let words = memory.bindMemory(to: Atomic<UInt>.self, capacity: Self.headerWords + Self.capacity)
    for index in 0..<Self.headerWords + Self.capacity { (words + index).initialize(to: Atomic(0)) }
    self.base = base
  }

  func deallocate() {
    words.deinitialize(count: Self.headerWords + Self.capacity)
    words.deallocate()
  }

  private var words: UnsafeMutablePointer<Atomic<UInt>> { UnsafeMutablePointer(bitPattern: word).unsafelyUnwrapped }

  /// Sequence number of the first slot: a multiple of `capacity`.
  var base: Int {
    get { Int(bitPattern: words[0].load(ordering: .acquiring)) }
    nonmutating set { words[0].store(UInt(bitPattern: newValue), ordering: .releasing) }
  }

  /// How many slots from the first are known to be done; under the registry's lock.
  private var doneCursor: Int {
    get { Int(words[1].load(ordering: .relaxed)) }
    nonmutating set { words[1].store(UInt(newValue), ordering: .relaxed) }
  }

  @inline(__always)
  func covers(_ sequence: Int) -> Bool { sequence & ~(Self.capacity - 1) == base }

  @inline(__always)
  func slot(_ sequence: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    words + (Self.headerWords + sequence & (Self.capacity - 1))
  }

  /// Whether every slot is done; amortised O(1) over the life of a slot.
  func isDone() -> Bool {
    while doneCursor < Self.capacity, words[Self.headerWords + doneCursor].load(ordering: .acquiring) == Registry.done {
      doneCursor += 1
    }
    return doneCursor == Self.capacity
  }

  /// Makes a done segment serve other numbers. The slots come first: a thread that sees the new base sees empty
  /// slots.
  func reuse(base: Int) {
    // -1 is a base that covers no number: no thread takes the segment for either range meanwhile.
    self.base = -1
    for index in 0..<Self.capacity { words[Self.headerWords + index].store(0, ordering: .relaxed) }
    doneCursor = 0
    self.base = base
  }
}

/// Which segment serves which numbers. Used under the registry's lock.
struct SegmentDirectory: ~Copyable {
  enum Found {
    case found(Segment)
    /// All of the segment's operations have finished, and the segment serves other numbers.
    case reused
    /// No operation has come to the segment yet.
    case missing
  }

  /// In the order of their numbers. Only segments that may have unfinished operations are listed: an operation that
  /// never finishes keeps one segment, and not all segments that came after it.
  private var live: [(base: Int, segment: Segment)] = []
  private var nextBase = 0
  /// The place where the search for a done segment goes on.
  private var sweep = 0
  private var all: [Segment] = []
  /// How many segments are looked at for each segment that is needed: twice as many would be done at best.
  private static let sweepLength = 4

  init() {}

  deinit { for segment in all { segment.deallocate() } }

  var last: Segment { live[live.count - 1].segment }

  /// The base of the first live segment: no smaller number is unfinished.
  var firstSequence: Int { live.first?.base ?? nextBase }

  /// The first live segment's numbers from `sequence` on; nil when there is none.
  func nextBase(from sequence: Int) -> Int? {
    let index = position(of: sequence)
    return index < live.count ? live[index].base : nil
  }

  /// The last live segment with numbers below `bound`; nil when there is none. O(log segments).
  func last(below bound: Int) -> (base: Int, segment: Segment)? {
    let index = position(of: bound - 1)
    if index < live.count, live[index].base < bound { return live[index] }
    return index > 0 ? live[index - 1] : nil
  }

  func find(covering sequence: Int) -> Found {
    if sequence >= nextBase { return .missing }
    let index = position(of: sequence)
    guard index < live.count, live[index].base <= sequence else { return .reused }
    return .found(live[index].segment)
  }

  mutating func findOrMake(covering sequence: Int) -> Segment {
    while true {
      if case .found(let segment) = find(covering: sequence) { return segment }
      append()
    }
  }

  /// Index of the first live segment whose numbers do not all lie below `sequence`. O(log segments).
  private func position(of sequence: Int) -> Int {
    var low = 0
    var high = live.count
    while low < high {
      let middle = (low + high) / 2
      if live[middle].base + Segment.capacity <= sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func append() {
    let segment: Segment
    if let old = takeDone() {
      old.reuse(base: nextBase)
      segment = old
    } else {
      segment = Segment(base: nextBase)
      all.append(segment)
    }
    live.append((nextBase, segment))
    nextBase += Segment.capacity
  }

  /// Looks at a few segments, in turn, for one that is done. The last segment is not looked at: `tail` points to it.
  private mutating func takeDone() -> Segment? {
    for _ in 0..<max(0, min(Self.sweepLength, live.count - 1)) {
      sweep = sweep + 1 < live.count - 1 ? sweep + 1 : 0
      if live[sweep].segment.isDone() {
        defer { sweep = max(0, sweep - 1) }
        return live.remove(at: sweep).segment
      }
    }
    return nil
  }
}
