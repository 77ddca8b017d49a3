import CPlatform
import Primitives
import Synchronization

/// What one thread has recorded: a list of chunks. Only that thread fills the chunks; others may read each chunk up
/// to its count.
///
/// The protocol is in `README.md` here. In short: the store of `count` publishes a slot. The owner frees chunks when
/// it begins a later session. After the thread has ended, whoever begins a later session frees them. Nobody else
/// frees chunks, and no reader is at work at that time.
package final class TraceBuffer: @unchecked Sendable {
  // Sendable: the atomics are for everybody. `current`, `queue`, `queueName`, `finishedHere` and `knownTasks` belong to
  // the owning thread. The other properties do not change.

  struct Chunk: ~Copyable {
    let next = Atomic<UInt>(0)
    let count = Atomic<Int>(0)
    let capacity: Int
    let slots: UnsafeMutablePointer<TraceEvent>

    init(capacity: Int) {
      self.capacity = capacity
      slots = .allocate(capacity: capacity)
    }
  }

  private typealias ChunkPointer = UnsafeMutablePointer<Chunk>

  /// A thread that records little takes little of the limit.
  private static let firstCapacity = 64
  private static let largestCapacity = 8192

  let threadID: Int32
  let threadName: String
  let isMainThread: Bool
  /// The session that the buffer's events belong to.
  let session = Atomic<UInt>(0)
  /// Events for which there was no room.
  let dropped = Atomic<Int>(0)
  /// When the first event was dropped; `.max` for never. The time lies in the buffer so that it belongs to the
  /// buffer's session.
  let fullAt = Atomic<UInt64>(.max)
  /// The thread is gone.
  let isEnded = Atomic<Bool>(false)
  /// What the thread found in a study, in the place of events.
  let studied = ProbeStudy.Own()
  private let first = Atomic<UInt>(0)
  private var current: ChunkPointer?

  /// The queue that the thread last added to, and the queue's name at that time.
  package var queue: UInt = 0
  package var queueName: String?
  /// The operation that finished last in its own `start()`, until that `start()` has returned.
  package var finishedHere: UInt = 0
  /// The places of tasks that were recorded lately: a task's number and a function, by their hash.
  private var knownTasks: [(UInt, UInt)] = []

  init() {
    threadID = cplatform_thread_id()
    isMainThread = cplatform_is_main_thread()
    var bytes = [CChar](repeating: 0, count: 16)
    cplatform_thread_get_name(&bytes)
    threadName = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { freeChunks() }

  private static func chunk(_ word: UInt) -> ChunkPointer? { ChunkPointer(bitPattern: word) }

  // MARK: - Owner

  package func append(_ event: TraceEvent) {
    if ProbeStudy.isOn.load(ordering: .relaxed) { return studied.note(event) }
    if !place(event) { drop(at: event.time) }
  }

  /// Appends an event with its text before it.
  package func append(_ event: TraceEvent, name: String?) {
    guard let name, !ProbeStudy.isOn.load(ordering: .relaxed) else { return append(event) }
    let slots = TraceEvent.slots(of: name)
    var event = event
    event.textLength = UInt16(slots.count)
    for slot in slots where !place(slot) { return drop(at: event.time) }
    append(event)
  }

  /// Whether the thread has to record what a task at one of its functions is. From then on it has: a later one with the
  /// same hash makes it forget that.
  package func isNew(task: UInt, at function: UInt) -> Bool {
    if ProbeStudy.isOn.load(ordering: .relaxed) { return false }
    if knownTasks.isEmpty { knownTasks = Array(repeating: (0, 0), count: 4_096) }
    let place = Int((task ^ function &>> 4) % 4_096)
    if knownTasks[place] == (task, function) { return false }
    knownTasks[place] = (task, function)
    return true
  }

  private func drop(at time: UInt64) {
    let before = dropped.load(ordering: .relaxed)
    if before == 0 { fullAt.store(time, ordering: .relaxed) }
    dropped.store(before + 1, ordering: .relaxed)
  }

  /// - Returns: false when there is no room.
  @inline(__always)
  private func place(_ event: TraceEvent) -> Bool {
    var chunk = current
    if chunk == nil || chunk?.pointee.count.load(ordering: .relaxed) == chunk?.pointee.capacity { chunk = grow() }
    guard let chunk else { return false }
    let count = chunk.pointee.count.load(ordering: .relaxed)
    (chunk.pointee.slots + count).initialize(to: event)
    chunk.pointee.count.store(count + 1, ordering: .releasing)
    return true
  }

  @inline(never)
  private func grow() -> ChunkPointer? {
    // Nothing is recorded after the first dropped event: later events would have a gap before them.
    guard dropped.load(ordering: .relaxed) == 0 else { return nil }
    let wanted = current.map { min(Self.largestCapacity, 2 * $0.pointee.capacity) } ?? Self.firstCapacity
    let capacity = TraceSession.takeRoom(atMost: wanted, for: session.load(ordering: .relaxed))
    guard capacity > 0 else { return nil }
    let chunk = ChunkPointer.holding(Chunk(capacity: capacity))
    let word = UInt(bitPattern: chunk)
    if let current {
      current.pointee.next.store(word, ordering: .releasing)
    } else {
      first.store(word, ordering: .releasing)
    }
    current = chunk
    return chunk
  }

  /// The owner's first event of a session.
  func begin(session number: UInt) {
    freeChunks()
    dropped.store(0, ordering: .relaxed)
    fullAt.store(.max, ordering: .relaxed)
    queue = 0
    queueName = nil
    finishedHere = 0
    knownTasks = []
    studied.begin()
    session.store(number, ordering: .releasing)
  }

  private func freeChunks() {
    var chunk = Self.chunk(first.load(ordering: .relaxed))
    first.store(0, ordering: .relaxed)
    current = nil
    while let here = chunk {
      chunk = Self.chunk(here.pointee.next.load(ordering: .relaxed))
      here.pointee.slots.deallocate()
      here.free()
    }
  }

  // MARK: - Everybody

  /// What the owner has published so far. Called under the session's lock, and only when `session` is the present one.
  func events() -> [TraceEvent] {
    var events: [TraceEvent] = []
    var chunk = Self.chunk(first.load(ordering: .acquiring))
    while let here = chunk {
      let count = here.pointee.count.load(ordering: .acquiring)
      events.append(contentsOf: UnsafeBufferPointer(start: here.pointee.slots, count: count))
      chunk = Self.chunk(here.pointee.next.load(ordering: .acquiring))
    }
    return events
  }
}
