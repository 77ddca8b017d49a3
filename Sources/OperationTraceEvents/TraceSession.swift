import CPlatform
import Primitives
import Synchronization

/// The one recording that a process may have in progress, and the buffers of all threads that took part.
package enum TraceSession {
  /// The number of the present recording; a buffer with another number has nothing of this recording. The environment
  /// may begin the first recording, before anything in Swift runs.
  private static let number = Atomic<UInt>(1)
  /// How many events a recording keeps when nobody says another number.
  package static let usualEventLimit = 1_000_000
  /// Slots that chunks may still take.
  private static let room = TraceRoom(slots: usualEventLimit, for: 1)

  private struct Shared {
    var buffers: [TraceBuffer] = []
    /// When the recording began and ended; 0 for not known and not yet.
    var began: UInt64 = 0
    var ended: UInt64 = 0
  }
  private static let lock = Locked(Shared())

  package static func start(eventLimit: Int) {
    lock.withLock {
      cplatform_set_tracing(false)
      // The buffers of threads that are gone are removed. The buffers of other threads belong to those threads; they
      // see the new number.
      lock.state.buffers.removeAll { $0.isEnded.load(ordering: .acquiring) }
      let next = number.load(ordering: .relaxed) + 1
      room.fill(slots: eventLimit, for: next)
      (lock.state.began, lock.state.ended) = (cplatform_now_ns(), 0)
      number.store(next, ordering: .releasing)
      cplatform_set_tracing(true)
    }
  }

  package static func stop() {
    lock.withLock {
      guard cplatform_is_tracing() else { return }
      cplatform_set_tracing(false)
      lock.state.ended = cplatform_now_ns()
    }
  }

  /// A copy of what has been recorded.
  package static func collect() -> TraceRecording {
    lock.withLock {
      let (began, ended) = (lock.state.began, lock.state.ended)
      // The end is read before any event: an event that is copied and not shown is later than every event that a copy
      // may lack.
      var recording = TraceRecording(began: began, ended: ended == 0 ? cplatform_now_ns() : ended)
      let current = number.load(ordering: .relaxed)
      for buffer in lock.state.buffers where buffer.session.load(ordering: .acquiring) == current {
        recording.threads.append(
          TraceRecording.Thread(
            id: buffer.threadID, name: buffer.threadName, isMain: buffer.isMainThread, events: buffer.events()))
      }
      // The counts are read after all events: if anything was dropped before one of the events, the count says so.
      for buffer in lock.state.buffers where buffer.session.load(ordering: .acquiring) == current {
        recording.dropped += buffer.dropped.load(ordering: .relaxed)
        recording.fullAt = min(recording.fullAt, buffer.fullAt.load(ordering: .relaxed))
      }
      return recording
    }
  }

  /// Visits the buffers of the present session.
  static func visitBuffers(_ visit: (TraceBuffer) -> Void) {
    lock.withLock {
      let current = number.load(ordering: .relaxed)
      for buffer in lock.state.buffers where buffer.session.load(ordering: .acquiring) == current { visit(buffer) }
    }
  }

  // MARK: - For the recording threads

  /// The calling thread's buffer, in the present session.
  @inline(__always)
  package static func ownBuffer() -> TraceBuffer {
    // The fence pairs with the flag's store: a thread that is here because of a recording sees that recording's
    // number, or a later one.
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
    // Where the system has no place to note this, the thread never counts as ended, and its buffer stays.
    _ = cplatform_at_thread_exit(cplatform_trace_owner) { TraceSession.leave() }
    buffer.begin(session: number.load(ordering: .acquiring))
    lock.withLock { lock.state.buffers.append(buffer) }
    return buffer
  }

  /// The thread ends; the buffer's events stay with the session.
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
package struct TraceRecording: Sendable {
  package struct Thread: Sendable {
    package let id: Int32
    package let name: String
    package let isMain: Bool
    package var events: [TraceEvent]
  }

  /// When the recording began. 0 when the environment began the recording: the first event is then the beginning.
  package var began: UInt64
  /// When the recording ended. Of a snapshot, when the snapshot was begun: later events are copied too, and not
  /// shown.
  package var ended: UInt64
  package var threads: [Thread] = []
  package var dropped = 0
  /// When the first event was dropped; `.max` for never. From that time on nothing is shown, since something may be
  /// missing.
  package var fullAt = UInt64.max
}
