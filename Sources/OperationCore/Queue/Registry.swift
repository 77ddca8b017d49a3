import CPlatform
import Primitives
import Synchronization

/// What a queue knows about its operations without a lock on the way in and out: in which order the operations were
/// added, which are unfinished, and up to where `cancelAllOperations` reached.
///
/// Adding takes the next sequence number with one fetch-and-add. The fetch-and-add also says whether the queue's
/// controller is engaged. Adding then stores the operation into slot [sequence] of a segmented array. Finishing
/// empties the slot and adds one to a sharded counter. A slot is 0 (its number is taken, the store is under way),
/// `done`, an operation, or an operation with bit 0 set. Bit 0 says that a reader is taking a reference (a few
/// instructions); a finish waits for the reader.
///
/// Segments are found through `tail`, nearly always the right segment, or under `lock` in the directory. A segment is
/// reused when all its slots are done, and never freed before the registry. So a thread with a stale `tail` reads
/// memory that is still a segment, and `base` tells whether the segment is the right one. `base` cannot change under
/// a thread whose slot is not done. Memory: 8 bytes per operation at the highest number pending, in pieces of 2 KB.
struct Registry: ~Copyable, @unchecked Sendable {
  // Sendable: atomics, and what `directory` points to is touched under `lock`.

  struct Ticket {
    let sequence: Int
    /// The controller was engaged when the sequence number was taken.
    let isControlled: Bool
    let slot: UnsafeMutablePointer<Atomic<UInt>>

    /// The flag that is set together with `listed`.
    @inline(__always) var flag: UInt64 { isControlled ? StateWord.tracked : 0 }
  }

  static let done: UInt = 2
  private static let shardCount = 8

  /// Sequence numbers taken, times two; bit 0: the controller is engaged.
  private let tickets = PaddedPointer(Atomic<UInt>(0))
  private let tail = Atomic<UInt>(0)
  /// Operations with a smaller sequence number are cancelled.
  private let cancelledBefore = Atomic<Int>(0)
  /// Calls of `cancelAllOperations`: see `RetryScope`.
  private let cancels = Atomic<Int>(0)
  /// Finished operations, counted in the shard that the finishing thread's hash says.
  private let finishedShards = UnsafeMutablePointer<PaddedPointer<Atomic<Int>>>.allocate(capacity: Registry.shardCount)
  private let lock = FutexLock()
  private let directory = UnsafeMutablePointer.holding(SegmentDirectory())

  init() {
    for shard in 0..<Self.shardCount { (finishedShards + shard).initialize(to: PaddedPointer(Atomic(0))) }
  }

  deinit {
    tickets.deallocate()
    for shard in 0..<Self.shardCount { finishedShards[shard].deallocate() }
    finishedShards.deallocate()
    directory.free()
  }

  // MARK: - In and out

  /// Takes `count` successive sequence numbers.
  /// - Returns: the first number, and whether the controller is engaged.
  @inline(__always)
  borrowing func takeNumbers(_ count: Int) -> (first: Int, isControlled: Bool) {
    let old = tickets.pointer.pointee.wrappingAdd(UInt(count) << 1, ordering: .acquiringAndReleasing).oldValue
    return (Int(old >> 1), old & 1 == 1)
  }

  @inline(__always)
  borrowing func ticket(sequence: Int, isControlled: Bool) -> Ticket {
    let word = tail.load(ordering: .acquiring)
    if let segment = Segment(word: word), segment.covers(sequence) {
      return Ticket(sequence: sequence, isControlled: isControlled, slot: segment.slot(sequence))
    }
    return Ticket(sequence: sequence, isControlled: isControlled, slot: findOrMakeSegment(sequence).slot(sequence))
  }

  /// Lists the operation. The caller has given the queue its reference to the operation.
  @inline(__always)
  borrowing func fill(_ ticket: Ticket, with operation: Operation) {
    operation.slotWord.store(UInt(bitPattern: ticket.slot), ordering: .relaxed)
    ticket.slot.pointee.store(operation.word, ordering: .releasing)
  }

  /// A finished operation leaves the list.
  @inline(__always)
  borrowing func remove(_ operation: Operation) {
    let slot = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: operation.slotWord.load(ordering: .relaxed))
      .unsafelyUnwrapped
    while !slot.pointee.compareExchange(
      expected: operation.word, desired: Self.done, successOrdering: .releasing, failureOrdering: .relaxed
    ).exchanged {
      // A reader has pinned the slot.
      Spin.until { slot.pointee.load(ordering: .relaxed) & 1 == 0 }
    }
    // The counter comes after the slot: a thread that counts nothing pending finds nothing listed.
    shardOfThisThread.pointee.wrappingAdd(1, ordering: .releasing)
  }

  private borrowing func findOrMakeSegment(_ sequence: Int) -> Segment {
    lock.lock()
    defer { lock.unlock() }
    // A copy of the pointer: in optimised code the thread sanitizer takes the access below for a write to the
    // registry itself.
    let directory = directory
    let segment = directory.pointee.findOrMake(covering: sequence)
    tail.store(directory.pointee.last.word, ordering: .releasing)
    return segment
  }

  private var shardOfThisThread: UnsafeMutablePointer<Atomic<Int>> {
    // Thread-local blocks lie megabytes apart: the high part of a multiplicative hash spreads the blocks over the
    // shards.
    let hash = UInt(bitPattern: cplatform_thread_words_address()) &* 0x9E37_79B9_7F4A_7C15
    return finishedShards[Int(hash >> 61)].pointer
  }

  // MARK: - Counting

  /// Finished since the queue was made.
  var finishedCount: Int {
    (0..<Self.shardCount).reduce(0) { $0 + finishedShards[$1].pointer.pointee.load(ordering: .acquiring) }
  }

  /// Added since the queue was made.
  var addedCount: Int { Int(tickets.pointer.pointee.load(ordering: .acquiring) >> 1) }

  /// The finished count is read first, so that it never exceeds the added count. O(shards).
  var pendingCount: Int {
    let finished = finishedCount
    return addedCount - finished
  }

  // MARK: - Cancelling everything

  var cancelCalls: Int { cancels.load(ordering: .sequentiallyConsistent) }
  /// Comes before the list of what is cancelled.
  borrowing func countCancel() { cancels.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  @inline(__always)
  borrowing func isCancelled(sequence: Int) -> Bool { sequence < cancelledBefore.load(ordering: .acquiring) }

  /// From this instant every operation with a sequence number below `bound` counts as cancelled when it is claimed.
  borrowing func cancelAll(below bound: Int) {
    _ = cancelledBefore.max(bound, ordering: .sequentiallyConsistent)
  }

  // MARK: - Control

  /// Sets or clears the bit that diverts to the controller.
  /// - Returns: how many numbers had been taken at that instant.
  borrowing func setControlled(_ controlled: Bool) -> Int {
    let old =
      controlled
      ? tickets.pointer.pointee.bitwiseOr(1, ordering: .sequentiallyConsistent).oldValue
      : tickets.pointer.pointee.bitwiseAnd(~1, ordering: .sequentiallyConsistent).oldValue
    return Int(old >> 1)
  }

  // MARK: - Reading

  /// Calls `body` for each unfinished operation below `bound` that is listed, in the order of adding, holding no
  /// lock.
  /// - Parameter waitForStores: whether to wait for operations whose number is taken but whose slot is not filled
  ///   yet, so that no operation below `bound` is missed.
  borrowing func visitPending(
    below bound: Int = .max, waitForStores: Bool = false, _ body: (consuming Operation) -> Void
  ) {
    let limit = min(bound, addedCount)
    var sequence = 0
    while let base = lock.withLock({ directory.pointee.nextBase(from: sequence) })
      ?? missingBase(
        from: sequence, limit: limit, wait: waitForStores)
    {
      sequence = max(sequence, base)
      guard sequence < limit else { return }
      let end = min(limit, base + Segment.capacity)
      if case .found(let segment) = lock.withLock({ directory.pointee.find(covering: sequence) }) {
        for index in sequence..<end { visit(segment, index, waitForStores: waitForStores, body) }
      }
      sequence = end
    }
  }

  /// The unfinished operation with the highest number below `bound`, and that number; nil when no such operation is
  /// listed. O(slots between the operation and `bound`). Takes a reference to that operation alone.
  borrowing func newestPending(below bound: Int) -> (operation: Operation, sequence: Int)? {
    var limit = min(bound, addedCount)
    while limit > 0, let (base, segment) = lock.withLock({ directory.pointee.last(below: limit) }) {
      for sequence in stride(from: min(limit, base + Segment.capacity) - 1, through: base, by: -1) {
        var pending: Operation?
        visit(segment, sequence, waitForStores: false) { pending = $0 }
        if let pending { return (pending, sequence) }
      }
      limit = base
    }
    return nil
  }

  /// Waits for the segment of a number below `limit` that was taken, when nobody has made the segment yet: the thread
  /// that took the number is about to make the segment.
  private borrowing func missingBase(from sequence: Int, limit: Int, wait: Bool) -> Int? {
    guard wait, sequence < limit else { return nil }
    var base: Int?
    var missing = true
    Spin.until {
      lock.withLock {
        base = directory.pointee.nextBase(from: sequence)
        if base == nil, case .missing = directory.pointee.find(covering: limit - 1) { return false }
        missing = false
        return true
      }
    }
    return missing ? nil : base
  }

  private borrowing func visit(
    _ segment: Segment, _ sequence: Int, waitForStores: Bool, _ body: (consuming Operation) -> Void
  ) {
    let slot = segment.slot(sequence)
    while true {
      let word = slot.pointee.load(ordering: .acquiring)
      if word == 0 {
        // In a segment that was reused meanwhile the number is no longer covered: the number is done.
        guard waitForStores, segment.covers(sequence) else { return }
        Spin.until { slot.pointee.load(ordering: .acquiring) != 0 || !segment.covers(sequence) }
        continue
      }
      if word == Self.done { return }
      if word & 1 == 1 {
        // Another reader has pinned the slot, for a few instructions.
        Spin.until { slot.pointee.load(ordering: .acquiring) != word }
        continue
      }
      guard slot.pointee.compareExchange(expected: word, desired: word | 1, ordering: .acquiring).exchanged else {
        continue
      }
      let operation = Operation.retained(word)
      slot.pointee.store(word, ordering: .releasing)
      // A reused segment would show an operation with another number.
      if operation.sequence.load(ordering: .relaxed) == sequence { body(consume operation) }
      return
    }
  }
}
