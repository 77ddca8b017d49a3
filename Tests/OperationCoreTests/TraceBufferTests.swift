import Testing

@testable import OperationCore
@testable import OperationTraceEvents

/// Who records for a session that is over leaves no trace in the next one.
struct TraceBufferTests {
  @Test func `room belongs to one session`() {
    let room = TraceRoom(slots: 100, for: 7)
    #expect(room.take(atMost: 64, for: 6) == 0 && room.take(atMost: 64, for: 8) == 0)
    #expect(room.take(atMost: 64, for: 7) == 64 && room.take(atMost: 64, for: 7) == 36)
    #expect(room.take(atMost: 64, for: 7) == 0)
    room.fill(slots: 10, for: 8)
    #expect(room.take(atMost: 64, for: 7) == 0 && room.take(atMost: 64, for: 8) == 10)
    // More than the word can say is as good as no limit.
    room.fill(slots: .max, for: .max)
    #expect(room.take(atMost: 64, for: .max - 1) == 0 && room.take(atMost: 64, for: .max) == 64)
  }

  @Test func `what a task is is recorded once, until another one takes its place`() {
    let buffer = TraceBuffer()
    #expect(buffer.isNew(task: 7, at: 0x1000) && !buffer.isNew(task: 7, at: 0x1000))
    #expect(buffer.isNew(task: 7, at: 0x1010) && buffer.isNew(task: 8, at: 0x1000))
    // A task 4,096 further has the place of the first one.
    #expect(buffer.isNew(task: 7 + 4_096, at: 0x1000) && buffer.isNew(task: 7, at: 0x1000))
    buffer.begin(session: 0)
    #expect(buffer.isNew(task: 7, at: 0x1000))
  }

  /// No session has the number 0: an event for it is late, as one for a session that is over.
  @Test func `what is dropped for an earlier session is not counted for this one`() {
    let buffer = TraceBuffer()
    buffer.begin(session: 0)
    buffer.append(TraceEvent(.parks, at: 10))
    buffer.append(TraceEvent(.added, at: 20, 64), name: "late")
    #expect(buffer.events().isEmpty)
    #expect(buffer.dropped.load(ordering: .relaxed) == 2 && buffer.fullAt.load(ordering: .relaxed) == 10)
    #expect(TraceSession.collect().fullAt == .max)
    buffer.begin(session: 0)
    #expect(buffer.dropped.load(ordering: .relaxed) == 0 && buffer.fullAt.load(ordering: .relaxed) == .max)
  }
}
