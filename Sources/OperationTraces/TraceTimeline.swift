import OperationTraceEvents

/// What a recording means: operations with their times, slices on threads, and how many operations were ready and
/// running. Pure: the timeline is made from the copied events alone.
///
/// An operation is known by its address, and an address may serve many operations one after another: each `added`
/// begins a new operation. An event at an address belongs to the latest operation there, if the event can still
/// happen to that operation.
struct TraceTimeline {
  struct Operation {
    var name: String?
    /// The class's metadata; 0 when not known.
    var classWord: UInt
    /// Index into `queues`.
    var queue: Int?
    var level: UInt32
    var added: UInt64?
    var ready: UInt64?
    var began: UInt64?
    /// The operation's slice: the thread, and where the slice ends.
    var thread = 0
    var sliceEnd: UInt64?
    /// When the operation finished; nil when the trace ends before.
    var finished: UInt64?
    /// The operation went on after its `start()` had returned, or another thread finished it.
    var isAsynchronous = false
    /// The trace ended before the operation's slice ended.
    var isCut = false
    var dependencyWords: [UInt] = []
    /// The dependencies that ran, known at the start.
    var dependencies: [Int] = []

    var isOver: Bool { finished != nil }
  }

  struct Queue: Hashable {
    let word: UInt
    let classWord: UInt
    let name: String?
  }

  /// A stretch of a thread's time that is not an operation.
  struct Slice {
    enum Kind {
      case parked, callout
      case waiting(for: Int?)
      case fork(of: Int?)
      case part(of: Int?)
      case node(String, of: Int?)
      case task(TaskPart)
      /// The turn of an actor that has no executor of its own: jobs of several tasks.
      case turn
    }
    let kind: Kind
    let thread: Int
    let begin: UInt64
    var end: UInt64
  }

  /// A task, from where it goes on until it is suspended or ends.
  struct TaskPart {
    let number: UInt
    let name: String?
    /// The function with which the task goes on, and those around it.
    let functions: [UInt]
    let priority: UInt8
    /// When the task was handed over.
    let ready: UInt64?
  }

  struct Instant {
    enum Kind {
      case skipped(Int)
      case finishes(Int)
      case steals(Int?, from: UInt32)
      case wakes(UInt32)
      case threadBegins(isSpare: Bool)
      case threadEnds
      case addsSpares(UInt32)
    }
    let kind: Kind
    let thread: Int
    let time: UInt64
  }

  struct Count {
    let time: UInt64
    var ready: Int
    var running: Int
  }

  struct Thread {
    let id: Int32
    let name: String
    let isMain: Bool
    /// Slices that have begun and not ended, the innermost last.
    fileprivate var open: [Open] = []
    /// The queue of the operations that the thread adds.
    fileprivate var queue: Int?
    /// The functions of the task that the thread tells of next.
    fileprivate var functions: [UInt] = []
    /// Something is shown in the thread's row.
    var isSeen = false
  }

  fileprivate enum Open {
    case operation(Int)
    case slice(Int)
  }

  let began: UInt64
  private(set) var ended: UInt64
  private(set) var operations: [Operation] = []
  private(set) var queues: [Queue] = []
  private(set) var threads: [Thread] = []
  private(set) var slices: [Slice] = []
  private(set) var instants: [Instant] = []
  private(set) var counts: [Count] = []
  /// Events of the recording that found no room, or came after the part that is shown.
  private(set) var notShown: Int

  private var latest: [UInt: Int] = [:]
  private var queueIndices: [Queue: Int] = [:]
  /// By the task's number.
  private var taskNames: [UInt: String] = [:]
  private var taskReady: [UInt: UInt64] = [:]
  /// The functions around the one with which a task goes on.
  private var taskFunctions: [[UInt]: [UInt]] = [:]
  private var ready = 0
  private var running = 0

  /// Operations that have a slice.
  var executed: Int { operations.reduce(0) { $0 + ($1.began == nil ? 0 : 1) } }

  init(_ recording: TraceRecording, operationLimit: Int = .max) {
    var moments: [Moment] = []
    notShown = recording.dropped
    for (index, thread) in recording.threads.enumerated() {
      threads.append(Thread(id: thread.id, name: thread.name, isMain: thread.isMain))
      moments += Self.moments(of: thread.events, until: recording.ended, thread: index)
    }
    moments.sort()
    let known = moments.first.map { min($0.time, recording.began == 0 ? .max : recording.began) } ?? recording.began
    began = known
    let end = Self.end(of: moments, recording, operationLimit: operationLimit)
    ended = max(end, known)
    for moment in moments {
      guard moment.time < end else {
        notShown += 1
        continue
      }
      let events = recording.threads[moment.thread].events
      let event = events[moment.index]
      let text = events[(moment.index - Int(event.textLength))..<moment.index]
      take(event, at: moment.time, name: TraceEvent.name(in: text), on: moment.thread)
    }
    close()
  }

  // MARK: - Order

  /// An event in the order of all threads.
  private struct Moment: Comparable {
    let time: UInt64
    let rank: UInt8
    let thread: Int
    let index: Int

    static func < (left: Moment, right: Moment) -> Bool {
      if left.time != right.time { return left.time < right.time }
      if left.thread == right.thread { return left.index < right.index }
      return (left.rank, left.thread) < (right.rank, right.thread)
    }
  }

  /// A thread's events, each later than the one before. Events that were recorded together stay together.
  /// - Parameter ended: an event that was recorded later is not part of the recording. Threads that were copied late
  ///   have more such events than others. And an operation that ran when the recording ended must not be shown as
  ///   longer each time the recording is asked for.
  private static func moments(of events: [TraceEvent], until ended: UInt64, thread: Int) -> [Moment] {
    var moments: [Moment] = []
    moments.reserveCapacity(events.count)
    var last: UInt64 = 0
    for (index, event) in events.enumerated() where event.kind != .text && event.time <= ended {
      switch event.kind {
      case .queue, .added, .edge, .taskFunction, .taskKnown: last = max(last, event.time)
      default: last = max(last + 1, event.time)
      }
      moments.append(Moment(time: last, rank: rank(event.kind), thread: thread, index: index))
    }
    return moments
  }

  /// At one instant on different threads: an operation is over before its address is used again, and added before it
  /// starts.
  private static func rank(_ kind: TraceEvent.Kind) -> UInt8 {
    switch kind {
    case .finishesHere, .finishes, .returns: 0
    case .queue, .added, .edge, .edgeRemoved: 1
    case .ready, .taskReady: 2
    default: 3
    }
  }

  /// The time from which on nothing is shown.
  private static func end(of moments: [Moment], _ recording: TraceRecording, operationLimit: Int) -> UInt64 {
    // The end is one nanosecond later. So an event of the last nanosecond is inside. An event that its thread's order
    // moved past the last nanosecond is inside as well.
    var end = min(max(recording.ended, moments.last?.time ?? 0) + 1, recording.fullAt)
    guard operationLimit < .max else { return end }
    var added = 0
    for moment in moments
    where recording.threads[moment.thread].events[moment.index].kind == .added {
      added += 1
      if added > operationLimit {
        end = min(end, moment.time)
        break
      }
    }
    return end
  }
}

// MARK: - Events

extension TraceTimeline {
  private mutating func take(_ event: TraceEvent, at time: UInt64, name: String?, on thread: Int) {
    switch event.kind {
    case .text: break
    case .queue:
      threads[thread].queue = index(of: Queue(word: event.subject, classWord: event.detail, name: name))
    case .added: add(event, at: time, name: name, on: thread)
    case .edge:
      if let index = latest[event.subject], operations[index].began == nil {
        operations[index].dependencyWords.append(event.detail)
      }
    case .edgeRemoved:
      if let index = latest[event.subject], operations[index].began == nil {
        operations[index].dependencyWords.removeAll { $0 == event.detail }
      }
    case .ready: becomeReady(event.subject, at: time)
    case .begins: begin(event, at: time, on: thread)
    case .finishesHere, .finishes, .returns: end(event, at: time, on: thread)
    case .skipped:
      let index = pending(event)
      instant(.skipped(index), at: time, on: thread)
      finish(index, at: time)
    case .waits: open(.waiting(for: latest[event.subject]), at: time, on: thread)
    case .waited: closeSlice(at: time, on: thread) { if case .waiting = $0 { true } else { false } }
    case .forkBegins: open(.fork(of: latest[event.subject]), at: time, on: thread)
    case .forkEnds: closeSlice(at: time, on: thread) { if case .fork = $0 { true } else { false } }
    case .partBegins: open(.part(of: latest[event.subject]), at: time, on: thread)
    case .partEnds: closeSlice(at: time, on: thread) { if case .part = $0 { true } else { false } }
    case .nodeBegins: open(.node(name ?? "node", of: latest[event.subject]), at: time, on: thread)
    case .nodeEnds: closeSlice(at: time, on: thread) { if case .node = $0 { true } else { false } }
    case .taskReady: taskReady[event.subject] = time
    case .taskFunction: threads[thread].functions.append(event.subject)
    case .taskKnown:
      // Where a task changed meanwhile, or the system refused, less was found than before.
      if let name { taskNames[event.subject] = name }
      let functions = threads[thread].functions
      if !functions.isEmpty { taskFunctions[[event.subject, event.detail]] = functions }
      threads[thread].functions = []
    case .taskBegins: open(event.subject == 0 ? .turn : .task(part(event)), at: time, on: thread)
    case .taskEnds:
      closeSlice(at: time, on: thread) {
        switch $0 {
        case .task, .turn: true
        default: false
        }
      }
    case .parks: open(.parked, at: time, on: thread)
    case .unparks: closeSlice(at: time, on: thread) { if case .parked = $0 { true } else { false } }
    case .calloutBegins: open(.callout, at: time, on: thread)
    case .calloutEnds: closeSlice(at: time, on: thread) { if case .callout = $0 { true } else { false } }
    case .steals:
      let stolen = latest[event.subject].flatMap { operations[$0].isOver ? nil : $0 }
      instant(.steals(stolen, from: event.value), at: time, on: thread)
    case .wakes: instant(.wakes(event.value), at: time, on: thread)
    case .threadBegins: instant(.threadBegins(isSpare: event.value == 1), at: time, on: thread)
    case .threadEnds:
      while let last = threads[thread].open.popLast() { end(last, at: time, isCut: false) }
      instant(.threadEnds, at: time, on: thread)
    case .addsSpares: instant(.addsSpares(event.value), at: time, on: thread)
    }
  }

  private mutating func part(_ event: TraceEvent) -> TaskPart {
    TaskPart(
      number: event.subject, name: taskNames[event.subject],
      functions: [event.detail] + (taskFunctions[[event.subject, event.detail]] ?? []),
      priority: UInt8(truncatingIfNeeded: event.value), ready: taskReady.removeValue(forKey: event.subject))
  }

  private mutating func index(of queue: Queue) -> Int {
    if let known = queueIndices[queue] { return known }
    queues.append(queue)
    queueIndices[queue] = queues.count - 1
    return queues.count - 1
  }

  private mutating func add(_ event: TraceEvent, at time: UInt64, name: String?, on thread: Int) {
    // The operation that was at this address is gone, although its end was not seen.
    if let before = latest[event.subject], !operations[before].isOver, operations[before].began == nil {
      finish(before, at: time)
    }
    let hasQueue = event.value & TraceEvent.AddedFlags.noQueue == 0
    operations.append(
      Operation(
        name: name, classWord: event.detail, queue: hasQueue ? threads[thread].queue : nil,
        level: event.value & TraceEvent.AddedFlags.level, added: hasQueue ? time : nil))
    latest[event.subject] = operations.count - 1
    if event.value & TraceEvent.AddedFlags.ready != 0 { becomeReady(event.subject, at: time) }
  }

  private mutating func becomeReady(_ word: UInt, at time: UInt64) {
    // An operation that is running or over was ready before this event was recorded: the first time that it was ready
    // counts.
    guard let index = latest[word], operations[index].began == nil, !operations[index].isOver,
      operations[index].ready == nil
    else { return }
    operations[index].ready = time
    ready += 1
    count(at: time)
  }

  /// The operation that an event before its start is about. An operation that was added before the recording is made
  /// up.
  private mutating func pending(_ event: TraceEvent) -> Int {
    if let index = latest[event.subject], operations[index].began == nil, !operations[index].isOver { return index }
    operations.append(Operation(classWord: event.detail, level: event.value))
    latest[event.subject] = operations.count - 1
    return operations.count - 1
  }

  private mutating func begin(_ event: TraceEvent, at time: UInt64, on thread: Int) {
    let index = pending(event)
    if operations[index].ready != nil { ready -= 1 }
    running += 1
    operations[index].began = time
    operations[index].level = event.value
    operations[index].thread = thread
    // An operation owns its dependencies until it has finished, so their addresses still stand for them.
    operations[index].dependencies = operations[index].dependencyWords.compactMap { word in
      guard let dependency = latest[word], dependency != index, operations[dependency].began != nil else { return nil }
      return dependency
    }
    threads[thread].open.append(.operation(index))
    threads[thread].isSeen = true
    count(at: time)
  }

  private mutating func end(_ event: TraceEvent, at time: UInt64, on thread: Int) {
    guard let index = latest[event.subject] else { return }
    if event.kind == .finishes {
      if operations[index].began != nil, !operations[index].isOver {
        operations[index].isAsynchronous = true
        instant(.finishes(index), at: time, on: thread)
      }
      return finish(index, at: time)
    }
    let isOpen = threads[thread].open.contains { if case .operation(index) = $0 { true } else { false } }
    if isOpen {
      while let last = threads[thread].open.popLast() {
        end(last, at: time, isCut: false)
        if case .operation(index) = last { break }
      }
    }
    if event.kind == .finishesHere {
      finish(index, at: time)
    } else if isOpen {
      operations[index].isAsynchronous = true
    }
  }

  private mutating func finish(_ index: Int, at time: UInt64) {
    guard !operations[index].isOver else { return }
    operations[index].finished = time
    if operations[index].began != nil {
      running -= 1
    } else if operations[index].ready != nil {
      ready -= 1
    }
    count(at: time)
  }

  // MARK: - Slices

  private mutating func open(_ kind: Slice.Kind, at time: UInt64, on thread: Int) {
    slices.append(Slice(kind: kind, thread: thread, begin: time, end: time))
    threads[thread].open.append(.slice(slices.count - 1))
    threads[thread].isSeen = true
  }

  private mutating func closeSlice(at time: UInt64, on thread: Int, _ isIt: (Slice.Kind) -> Bool) {
    // A slice that began before the recording has no beginning here.
    guard case .slice(let index) = threads[thread].open.last, isIt(slices[index].kind) else { return }
    threads[thread].open.removeLast()
    slices[index].end = time
  }

  private mutating func end(_ last: Open, at time: UInt64, isCut: Bool) {
    switch last {
    case .operation(let index):
      operations[index].sliceEnd = time
      operations[index].isCut = isCut
    case .slice(let index): slices[index].end = time
    }
  }

  private mutating func instant(_ kind: Instant.Kind, at time: UInt64, on thread: Int) {
    instants.append(Instant(kind: kind, thread: thread, time: time))
    threads[thread].isSeen = true
  }

  private mutating func count(at time: UInt64) {
    if let last = counts.last, last.time == time {
      counts[counts.count - 1] = Count(time: time, ready: ready, running: running)
    } else {
      counts.append(Count(time: time, ready: ready, running: running))
    }
  }

  /// The end of the trace ends every open slice.
  private mutating func close() {
    for thread in threads.indices {
      while let last = threads[thread].open.popLast() { end(last, at: ended, isCut: true) }
    }
    if ready != 0 || running != 0 {
      ready = 0
      running = 0
      count(at: ended)
    }
  }
}
