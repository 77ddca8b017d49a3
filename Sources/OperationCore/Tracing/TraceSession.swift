import CPlatform
import Primitives
import Synchronization

/// The one recording that a process may have going on, and the buffers of all threads that took part.
enum TraceSession {
  /// Counts recordings; a buffer with another number has nothing of this one. The first may be begun by the environment, before
  /// anything in Swift.
  private static let number = Atomic<UInt>(1)
  /// Slots that chunks may still take.
  private static let room = Atomic<Int>(OperationTrace.usualEventLimit)
  /// When the first event was dropped: nothing later is shown, since something may be missing there.
  private static let fullAt = Atomic<UInt64>(.max)

  private static let lock = FutexLock()

  private struct Shared: @unchecked Sendable {
    // Sendable: what the pointers lead to is touched under `lock`.
    let buffers = UnsafeMutablePointer<[TraceBuffer]>.allocate(capacity: 1)
    /// When the recording began and ended; 0 for not known and not yet.
    let times = UnsafeMutablePointer<(began: UInt64, ended: UInt64)>.allocate(capacity: 1)

    init() {
      buffers.initialize(to: [])
      times.initialize(to: (0, 0))
    }
  }
  private static let shared = Shared()

  static func start(eventLimit: Int) {
    lock.withLock {
      cplatform_set_tracing(false)
      // Those of threads that are gone. Those of others belong to their threads, which see the new number.
      shared.buffers.pointee.removeAll { $0.isEnded.load(ordering: .acquiring) }
      room.store(eventLimit, ordering: .relaxed)
      fullAt.store(.max, ordering: .relaxed)
      shared.times.pointee = (cplatform_now_ns(), 0)
      number.wrappingAdd(1, ordering: .releasing)
      cplatform_set_tracing(true)
    }
  }

  static func stop() {
    lock.withLock {
      guard cplatform_is_tracing() else { return }
      cplatform_set_tracing(false)
      shared.times.pointee.ended = cplatform_now_ns()
    }
  }

  /// A copy of what has been recorded.
  static func collect() -> TraceRecording {
    lock.withLock {
      let times = shared.times.pointee
      var recording = TraceRecording(began: times.began, ended: times.ended == 0 ? cplatform_now_ns() : times.ended)
      let current = number.load(ordering: .relaxed)
      for buffer in shared.buffers.pointee where buffer.session.load(ordering: .acquiring) == current {
        recording.threads.append(
          TraceRecording.Thread(
            id: buffer.threadID, name: buffer.threadName, isMain: buffer.isMainThread, events: buffer.events()))
        recording.dropped += buffer.dropped.load(ordering: .relaxed)
      }
      // After the events: whatever was dropped before one of them is known.
      recording.fullAt = fullAt.load(ordering: .relaxed)
      return recording
    }
  }

  // MARK: - For the recording threads

  /// The calling thread's buffer, in the present session.
  @inline(__always)
  static func ownBuffer() -> TraceBuffer {
    guard let pointer = cplatform_thread_words_address().pointee.trace_buffer else { return register() }
    let buffer = Unmanaged<TraceBuffer>.fromOpaque(pointer).takeUnretainedValue()
    let current = number.load(ordering: .acquiring)
    if buffer.session.load(ordering: .relaxed) != current { buffer.begin(session: current) }
    return buffer
  }

  @inline(never)
  private static func register() -> TraceBuffer {
    let buffer = TraceBuffer()
    cplatform_thread_words_address().pointee.trace_buffer = Unmanaged.passUnretained(buffer).toOpaque()
    cplatform_at_thread_exit(cplatform_trace_owner) { TraceSession.leave() }
    buffer.begin(session: number.load(ordering: .acquiring))
    lock.withLock { shared.buffers.pointee.append(buffer) }
    return buffer
  }

  /// The thread ends; its events stay with the session.
  private static func leave() {
    let words = cplatform_thread_words_address()
    guard let pointer = words.pointee.trace_buffer else { return }
    words.pointee.trace_buffer = nil
    Unmanaged<TraceBuffer>.fromOpaque(pointer).takeUnretainedValue().isEnded.store(true, ordering: .releasing)
  }

  /// - Returns: how many slots the caller may make; 0 when the limit is reached.
  static func takeRoom(atMost wanted: Int) -> Int {
    var left = room.load(ordering: .relaxed)
    while left > 0 {
      let taken = min(left, wanted)
      let result = room.compareExchange(expected: left, desired: left - taken, ordering: .relaxed)
      if result.exchanged { return taken }
      left = result.original
    }
    return 0
  }

  static func becomeFull(at time: UInt64) {
    if time < fullAt.load(ordering: .relaxed) { fullAt.min(time, ordering: .relaxed) }
  }
}

/// The raw events of a session, copied.
struct TraceRecording: Sendable {
  struct Thread: Sendable {
    let id: Int32
    let name: String
    let isMain: Bool
    var events: [TraceEvent]
  }

  /// 0 when the environment began it: then the first event is the beginning.
  var began: UInt64
  var ended: UInt64
  var threads: [Thread] = []
  var dropped = 0
  /// Events from here on are not shown; `.max` when nothing was dropped.
  var fullAt = UInt64.max
}
