import Testing

@testable import OperationCore
@testable import OperationTraceEvents
@testable import OperationTraces

/// What a recording means, from events written down by hand.
struct TraceTimelineTests {
  private static let classWord = UInt(bitPattern: ObjectIdentifier(BlockOperation.self))

  private func recording(_ threads: [TraceEvent]..., ended: UInt64 = 1_000) -> TraceRecording {
    var recording = TraceRecording(began: 0, ended: ended)
    recording.threads = threads.enumerated().map {
      TraceRecording.Thread(id: Int32($0.offset + 1), name: "t\($0.offset)", isMain: false, events: $0.element)
    }
    return recording
  }

  private func added(_ word: UInt, at time: UInt64, _ name: String? = nil, ready: Bool = true) -> [TraceEvent] {
    let text = name.map(TraceEvent.slots) ?? []
    return text + [
      TraceEvent(
        .added, at: time, word, detail: Self.classWord,
        value: 2 | (ready ? TraceEvent.AddedFlags.ready : 0), textLength: UInt16(text.count))
    ]
  }

  private func begins(_ word: UInt, at time: UInt64) -> TraceEvent {
    TraceEvent(.begins, at: time, word, detail: Self.classWord, value: 2)
  }

  /// Added, begun and finished, three nanoseconds apart.
  private func ran(_ word: UInt, from time: UInt64) -> [TraceEvent] {
    var events = added(word, at: time)
    events.append(begins(word, at: time + 3))
    events.append(TraceEvent(.finishesHere, at: time + 6, word))
    return events
  }

  @Test func `an address serves many operations`() {
    var events: [TraceEvent] = []
    for round: UInt64 in 0..<3 {
      events += added(64, at: 100 * round + 10, round == 1 ? nil : "round \(round)")
      events += [begins(64, at: 100 * round + 20), TraceEvent(.finishesHere, at: 100 * round + 30, 64)]
    }
    let timeline = TraceTimeline(recording(events))
    #expect(timeline.operations.map(\.name) == ["round 0", nil, "round 2"])
    #expect(timeline.operations.map(\.began) == [20, 120, 220])
    #expect(timeline.operations.map(\.sliceEnd) == [30, 130, 230])
    #expect(timeline.executed == 3)
    #expect(timeline.counts.map(\.running) == [0, 1, 0, 0, 1, 0, 0, 1, 0])
    #expect(timeline.counts.map(\.ready) == [1, 0, 0, 1, 0, 0, 1, 0, 0])
  }

  @Test func `a fork that another thread took is a slice there`() {
    let owner = added(64, at: 10, "owner") + [begins(64, at: 20), TraceEvent(.finishesHere, at: 90, 64)]
    let thief = [
      TraceEvent(.forkBegins, at: 30, 64), TraceEvent(.forkBegins, at: 40, 0), TraceEvent(.forkEnds, at: 50),
      TraceEvent(.forkEnds, at: 60),
    ]
    let timeline = TraceTimeline(recording(owner, thief))
    #expect(timeline.slices.map(\.begin) == [30, 40] && timeline.slices.map(\.end) == [60, 50])
    let operations: [Int?] = timeline.slices.map { if case .fork(let operation) = $0.kind { operation } else { -1 } }
    #expect(operations == [0, nil])
  }

  @Test func `a node of a graph is a slice with its name`() {
    let owner = added(64, at: 10, "owner") + [begins(64, at: 20), TraceEvent(.finishesHere, at: 90, 64)]
    let name = TraceEvent.slots(of: "load")
    let helper =
      name + [TraceEvent(.nodeBegins, at: 30, 64, textLength: UInt16(name.count)), TraceEvent(.nodeEnds, at: 60)]
    let timeline = TraceTimeline(recording(owner, helper))
    #expect(timeline.slices.map(\.begin) == [30] && timeline.slices.map(\.end) == [60])
    let nodes: [String] = timeline.slices.map {
      if case .node(let name, let operation) = $0.kind { "\(name) of \(operation ?? -1)" } else { "" }
    }
    #expect(nodes == ["load of 0"])
  }

  @Test func `a part of an asynchronous body is a slice where it runs`() {
    let first = added(64, at: 10, "body") + [begins(64, at: 20), TraceEvent(.returns, at: 30, 64)]
    let second = [
      TraceEvent(.partBegins, at: 40, 64), TraceEvent(.partEnds, at: 50), TraceEvent(.partBegins, at: 60, 64),
      TraceEvent(.finishesHere, at: 70, 64), TraceEvent(.partEnds, at: 80),
    ]
    let timeline = TraceTimeline(recording(first, second))
    #expect(timeline.slices.map(\.begin) == [40, 60] && timeline.slices.map(\.end) == [50, 80])
    let operations: [Int?] = timeline.slices.map { if case .part(let operation) = $0.kind { operation } else { -1 } }
    #expect(operations == [0, 0])
    #expect(timeline.operations.map(\.sliceEnd) == [30] && timeline.operations.map(\.finished) == [70])
    #expect(timeline.operations[0].isAsynchronous)
  }

  @Test func `a task is a slice from where it goes on to its suspension, with what was recorded of it`() {
    let name = TraceEvent.slots(of: "loader")
    let thread = [
      TraceEvent(.taskFunction, at: 20, 300), TraceEvent(.taskFunction, at: 20, 400),
      TraceEvent(.taskKnown, at: 20, 7, detail: 200, textLength: 0),
      TraceEvent(.taskBegins, at: 21, 7, detail: 200, value: 25), TraceEvent(.taskEnds, at: 30),
      // Known by now; and a turn of an actor, in which a task ends that began before the recording.
      TraceEvent(.taskBegins, at: 40, 7, detail: 200, value: 25), TraceEvent(.taskEnds, at: 50),
      TraceEvent(.taskBegins, at: 60), TraceEvent(.taskEnds, at: 70),
    ]
    let other =
      [TraceEvent(.taskReady, at: 10, 7), TraceEvent(.taskEnds, at: 12)] + name
      + [
        TraceEvent(.taskKnown, at: 80, 8, detail: 500, textLength: UInt16(name.count)),
        TraceEvent(.taskBegins, at: 81, 8, detail: 500, value: 9),
      ]
    let timeline = TraceTimeline(recording(thread, other, ended: 100))
    #expect(timeline.slices.map(\.begin) == [21, 40, 60, 81] && timeline.slices.map(\.end) == [30, 50, 70, 101])
    let parts = timeline.slices.map {
      if case .task(let part) = $0.kind { part } else { nil as TraceTimeline.TaskPart? }
    }
    #expect(parts.map { $0?.number } == [7, 7, nil, 8] && parts.map { $0?.name } == [nil, nil, nil, "loader"])
    #expect(parts.map { $0?.functions } == [[200, 300, 400], [200, 300, 400], nil, [500]])
    #expect(parts.map { $0?.ready } == [10, nil, nil, nil] && parts.map { $0?.priority } == [25, 25, nil, 9])
  }

  @Test func `one operation's finish and the next one's addition come at one instant`() {
    let first = added(64, at: 10, "first") + [begins(64, at: 20)]
    // The thread that adds comes first in the list; the finish is another's.
    let timeline = TraceTimeline(
      recording(added(64, at: 30, "second"), first + [TraceEvent(.finishesHere, at: 30, 64)]))
    #expect(timeline.operations.map(\.name) == ["first", "second"])
    #expect(timeline.operations[0].finished == 30 && timeline.operations[1].began == nil)
    // The second was ready and never ran: the counter ends at zero with the trace.
    #expect(timeline.counts.last.map { [$0.ready, $0.running] } == [0, 0])
  }

  @Test func `what began before the recording is counted and has no slice`() {
    let timeline = TraceTimeline(
      recording([
        TraceEvent(.unparks, at: 5), TraceEvent(.finishesHere, at: 10, 64), TraceEvent(.ready, at: 15, 96),
        begins(96, at: 20), TraceEvent(.finishesHere, at: 30, 96),
        // Its addition was not seen, nor that of the one before it at the same address.
        begins(96, at: 40), TraceEvent(.returns, at: 50, 96),
      ]))
    #expect(timeline.slices.isEmpty && timeline.executed == 2)
    #expect(timeline.operations.allSatisfy { $0.added == nil && $0.name == nil })
    #expect(timeline.operations.map(\.isAsynchronous) == [false, true])
    #expect(timeline.counts.allSatisfy { $0.ready >= 0 && $0.running >= 0 })
  }

  @Test func `arrows are those in force at the start`() {
    var events = ran(32, from: 10) + ran(48, from: 20)
    // 16 never ran, 8 is not known.
    events += added(16, at: 35)
    events.append(TraceEvent(.skipped, at: 38, 16))
    events += added(64, at: 40, ready: false)
    for dependency: UInt in [32, 48, 16, 8] { events.append(TraceEvent(.edge, at: 40, 64, detail: dependency)) }
    events.append(TraceEvent(.edgeRemoved, at: 50, 64, detail: 48))
    events.append(TraceEvent(.ready, at: 55, 64))
    events.append(begins(64, at: 60))
    events.append(TraceEvent(.finishesHere, at: 70, 64))
    let timeline = TraceTimeline(recording(events))
    let last = timeline.operations[3]
    #expect(last.dependencies == [0] && last.ready == 55 && last.added == 40)
    #expect(timeline.operations[2].began == nil && timeline.executed == 3)
  }

  @Test func `the slice of an asynchronous operation ends when its body returns`() {
    let timeline = TraceTimeline(
      recording(
        added(64, at: 10) + [begins(64, at: 20), TraceEvent(.returns, at: 30, 64)],
        [TraceEvent(.finishes, at: 50, 64)]))
    #expect(timeline.operations[0].sliceEnd == 30 && timeline.operations[0].finished == 50)
    #expect(timeline.operations[0].isAsynchronous)
    #expect(timeline.counts.map { [Int($0.time), $0.running] } == [[10, 0], [20, 1], [50, 0]])
    // On its own thread, and only its frame's end missed: not asynchronous.
    let plain = TraceTimeline(
      recording(
        added(64, at: 10) + [
          begins(64, at: 20), TraceEvent(.finishesHere, at: 25, 64), TraceEvent(.returns, at: 30, 64),
        ]))
    #expect(!plain.operations[0].isAsynchronous && plain.operations[0].sliceEnd == 25)
  }

  @Test func `nothing behind the first gap is shown`() {
    var cut = recording(
      added(64, at: 10) + [begins(64, at: 20)], added(96, at: 15) + [begins(96, at: 40)])
    cut.fullAt = 30
    cut.dropped = 7
    let timeline = TraceTimeline(cut)
    #expect(timeline.executed == 1 && timeline.notShown == 8 && timeline.ended == 30)
    #expect(timeline.operations[0].sliceEnd == 30 && timeline.operations[0].isCut)
    #expect(timeline.counts.last.map { [Int($0.time), $0.ready, $0.running] } == [30, 0, 0])
  }

  @Test func `nothing behind the end is shown`() {
    // Ended while one ran, which returned later; and a thread that was copied late has more to tell.
    let timeline = TraceTimeline(
      recording(
        added(64, at: 10) + [begins(64, at: 20), TraceEvent(.returns, at: 40, 64)],
        ran(96, from: 24) + [TraceEvent(.finishes, at: 31, 64)] + ran(128, from: 50), ended: 30))
    #expect(timeline.ended == 31 && timeline.executed == 2 && timeline.operations.count == 2)
    #expect(timeline.operations[0].isCut && timeline.operations[0].sliceEnd == 31)
    #expect(timeline.operations[0].finished == nil && !timeline.operations[0].isAsynchronous)
    // What happened in the last nanosecond is inside, and nothing is missing for want of room.
    #expect(timeline.operations[1].finished == 30 && timeline.notShown == 0 && timeline.instants.isEmpty)
  }

  @Test func `a coarse clock is enough`() {
    // All at the instant of the end: their order moves them behind it.
    let timeline = TraceTimeline(
      recording(added(64, at: 30) + [begins(64, at: 30), TraceEvent(.finishesHere, at: 30, 64)], ended: 30))
    #expect(timeline.operations[0].finished == 32 && !timeline.operations[0].isCut && timeline.ended == 33)
  }

  @Test func `no more operations are shown than asked for`() {
    var events: [TraceEvent] = []
    for index: UInt64 in 1...9 { events += ran(UInt(index) * 16, from: 10 * index) }
    let timeline = TraceTimeline(recording(events), operationLimit: 4)
    #expect(timeline.executed == 4 && timeline.operations.count == 4 && timeline.notShown == 15)
    #expect(TraceTimeline(recording(events), operationLimit: 9).notShown == 0)
  }

  @Test func `a thread's events are in order`() {
    let timeline = TraceTimeline(
      recording(added(64, at: 10) + [begins(64, at: 10), TraceEvent(.finishesHere, at: 10, 64)]))
    #expect(timeline.operations[0].began == 11 && timeline.operations[0].sliceEnd == 12)
  }

  @Test func `names go there and back`() {
    for name in ["", "a", "exactly twenty-four bytes", "é 語 🙂\n\"", String(repeating: "x", count: 480)] {
      let slots = TraceEvent.slots(of: name)
      #expect(TraceEvent.name(in: slots[...]) == (name.isEmpty ? nil : name))
      #expect(slots.allSatisfy { $0.kind == .text })
    }
    for length in 475...481 {
      let long = String(repeating: "x", count: length) + "語語語"
      let cut = TraceEvent.name(in: TraceEvent.slots(of: long)[...]) ?? ""
      #expect(cut.hasSuffix("…") && long.hasPrefix(cut.dropLast()) && cut.utf8.count <= 483, "\(length): \(cut)")
      #expect(cut.count >= 475 - 1)
    }
  }

  @Test func `text is written as JSON`() {
    #expect(TraceText.quoted("a\"b\\c\n\r\t\u{0}\u{1F}é🙂") == #""a\"b\\c\n\r\t\u0000\u001fé🙂""#)
    #expect(
      [0, 1, 999, 1_000, 1_234_567].map(TraceText.microseconds) == ["0.000", "0.001", "0.999", "1.000", "1234.567"])
  }
}
