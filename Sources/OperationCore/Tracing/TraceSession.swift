import CPlatform
import Primitives
import Synchronization

/// The one recording that a process may have going on, and the buffers of all threads that took part.
enum TraceSession {
  /// Counts recordings; a buffer with another number has nothing of this one. The first may be begun by the environment, before
  /// anything in Swift.
  private static let number = Atomic<UInt>(1)
  /// Slots that chunks may still take.
  private static let room = TraceRoom(slots: OperationTrace.usualEventLimit, for: 1)

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
      let next = number.load(ordering: .relaxed) + 1
      room.fill(slots: eventLimit, for: next)
      shared.times.pointee = (cplatform_now_ns(), 0)
      number.store(next, ordering: .releasing)
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
      // The end is read before any event: what is copied and not shown is later than all that a copy may lack.
      var recording = TraceRecording(began: times.began, ended: times.ended == 0 ? cplatform_now_ns() : times.ended)
      let current = number.load(ordering: .relaxed)
      for buffer in shared.buffers.pointee where buffer.session.load(ordering: .acquiring) == current {
        recording.threads.append(
          TraceRecording.Thread(
            id: buffer.threadID, name: buffer.threadName, isMain: buffer.isMainThread, events: buffer.events()))
      }
      // After all events: whatever was dropped before one of them is known.
      for buffer in shared.buffers.pointee where buffer.session.load(ordering: .acquiring) == current {
        recording.dropped += buffer.dropped.load(ordering: .relaxed)
        recording.fullAt = min(recording.fullAt, buffer.fullAt.load(ordering: .relaxed))
      }
      return recording
    }
  }

  // MARK: - For the recording threads

  /// The calling thread's buffer, in the present session.
  @inline(__always)
  static func ownBuffer() -> TraceBuffer {
    // With the flag's store: whoever is here because of a recording sees its number, or a later one.
    atomicMemoryFence(ordering: .acquiring)
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

  /// - Returns: how many slots the caller may make; 0 when the limit is reached, or the session is over.
  static func takeRoom(atMost wanted: Int, for session: UInt) -> Int { room.take(atMost: wanted, for: session) }
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
  /// Of a snapshot, when it was begun: later events are copied too, and not shown.
  var ended: UInt64
  var threads: [Thread] = []
  var dropped = 0
  /// When the first event was dropped: from here on nothing is shown, since something may be missing; `.max` for never.
  var fullAt = UInt64.max
}
