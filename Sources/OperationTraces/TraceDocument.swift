import CPlatform
import OperationExecutors

/// A timeline in Chrome's trace format (the "JSON object format" of its documentation): one event per line, in the
/// order of time.
struct TraceDocument {
  private let timeline: TraceTimeline
  private let process: Int32
  private let name: String
  /// Numbers of arrows and asynchronous operations begin here.
  private let firstID: Int
  private let rows: [Int32]
  private let queueLabels: [String]
  private let classNames: [UInt: String]
  /// By the function with which a task goes on, and those around it.
  private let functionNames: [[UInt]: String]

  init(_ timeline: TraceTimeline, process: Int32, name: String, firstID: Int) {
    self.timeline = timeline
    self.process = process
    self.name = name
    self.firstID = firstID
    rows = Self.rows(of: timeline.threads)
    var names: [UInt: String] = [0: "operation"]
    for word in Set(timeline.operations.map(\.classWord) + timeline.queues.map(\.classWord)) where word != 0 {
      names[word] = String(describing: unsafeBitCast(word, to: AnyClass.self))
    }
    classNames = names
    queueLabels = Self.labels(of: timeline.queues, names)
    var functions = FunctionNames()
    var functionNames: [[UInt]: String] = [:]
    for case .task(let part) in timeline.slices.map(\.kind) where functionNames[part.functions] == nil {
      functionNames[part.functions] = functions.first(of: part.functions)
    }
    self.functionNames = functionNames
  }

  static func header(of timeline: TraceTimeline) -> String {
    header([
      ("producer", "Operations"), ("clock", "CLOCK_MONOTONIC"), ("began at, in nanoseconds", "\(timeline.began)"),
      ("operations shown", "\(timeline.executed)"), ("events not shown for want of room", "\(timeline.notShown)"),
    ])
  }

  /// - Parameter facts: what a reader may want to know. Perfetto shows the facts under "Info and stats".
  static func header(_ facts: [(name: String, value: String)]) -> String {
    let facts = facts.map { "\(TraceText.quoted($0.name)):\(TraceText.quoted($0.value))" }.joined(separator: ",")
    return "{\"displayTimeUnit\":\"ns\",\"otherData\":{\(facts)},\"traceEvents\":[\n"
  }

  static let footer = "\n]}\n"

  static var programName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    cplatform_program_name(&bytes, bytes.count)
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Each thread has a row of its own. The row's number is the thread's number in the system, unless an earlier
  /// thread had the same number.
  private static func rows(of threads: [TraceTimeline.Thread]) -> [Int32] {
    var used: Set<Int32> = []
    return threads.map { thread in
      var row = thread.id
      while !used.insert(row).inserted { row += 1 << 23 }
      return row
    }
  }

  /// The queue's name, or its class and a number.
  private static func labels(of queues: [TraceTimeline.Queue], _ classNames: [UInt: String]) -> [String] {
    var numbers: [UInt: Int] = [:]
    return queues.map { queue in
      if let name = queue.name { return name }
      let number = numbers[queue.word] ?? numbers.count + 1
      numbers[queue.word] = number
      return "\(classNames[queue.classWord] ?? "OperationQueue") \(number)"
    }
  }

  // MARK: - Lines

  /// A line and its place: at one instant an outer slice comes before the slices inside it.
  private struct Line {
    let time: UInt64
    /// Slices come first, the longer before the shorter; then the lines that bind to them.
    let rank: Int
    let text: String
  }

  func write(into text: inout TraceText) throws {
    try text.append(metadata.joined(separator: ",\n"))
    var lines: [Line] = []
    lines.reserveCapacity(3 * timeline.operations.count + timeline.counts.count)
    addOperations(to: &lines)
    addSlices(to: &lines)
    addInstants(to: &lines)
    addCounts(to: &lines)
    lines.sort { ($0.time, $0.rank) < ($1.time, $1.rank) }
    for line in lines {
      try text.append(",\n")
      try text.append(line.text)
    }
  }

  private var metadata: [String] {
    var lines = [
      "{\"ph\":\"M\",\"pid\":\(process),\"name\":\"process_name\",\"args\":{\"name\":\(TraceText.quoted(name))}}"
    ]
    let seen = timeline.threads.indices.filter { timeline.threads[$0].isSeen }
    let order = seen.sorted {
      let (left, right) = (timeline.threads[$0], timeline.threads[$1])
      if left.isMain != right.isMain { return left.isMain }
      return (left.name, left.id) < (right.name, right.id)
    }
    for (place, thread) in order.enumerated() {
      let label = timeline.threads[thread].isMain ? "main thread" : timeline.threads[thread].name
      lines.append(
        "{\"ph\":\"M\",\"pid\":\(process),\"tid\":\(rows[thread]),\"name\":\"thread_name\","
          + "\"args\":{\"name\":\(TraceText.quoted(label))}}")
      lines.append(
        "{\"ph\":\"M\",\"pid\":\(process),\"tid\":\(rows[thread]),\"name\":\"thread_sort_index\","
          + "\"args\":{\"sort_index\":\(place)}}")
    }
    return lines
  }

  /// The part that every line has.
  private func head(_ phase: String, _ time: UInt64, thread: Int, _ name: String, _ category: String) -> String {
    "{\"ph\":\"\(phase)\",\"pid\":\(process),\"tid\":\(rows[thread]),\"ts\":\(stamp(time)),\"cat\":\"\(category)\","
      + "\"name\":\(TraceText.quoted(name))"
  }

  private func stamp(_ time: UInt64) -> String { TraceText.microseconds(time - timeline.began) }

  private func label(_ operation: TraceTimeline.Operation) -> String {
    operation.name ?? classNames[operation.classWord] ?? "operation"
  }

  private func label(_ index: Int?) -> String { index.map { label(timeline.operations[$0]) } ?? "an operation" }

  private static let priorities = ["veryLow", "low", "normal", "high", "veryHigh"]

  private func arguments(of operation: TraceTimeline.Operation, began: UInt64) -> String {
    var facts: [String] = []
    if let queue = operation.queue { facts.append("\"queue\":\(TraceText.quoted(queueLabels[queue]))") }
    if Int(operation.level) < Self.priorities.count {
      facts.append("\"priority\":\"\(Self.priorities[Int(operation.level)])\"")
    }
    if operation.name != nil, let name = classNames[operation.classWord] {
      facts.append("\"class\":\(TraceText.quoted(name))")
    }
    if let added = operation.added { facts.append("\"us since added\":\(TraceText.microseconds(began - added))") }
    if let ready = operation.ready { facts.append("\"us since ready\":\(TraceText.microseconds(began - ready))") }
    if !operation.dependencyWords.isEmpty { facts.append("\"dependencies\":\(operation.dependencyWords.count)") }
    if operation.isCut { facts.append("\"unfinished\":true") }
    return facts.joined(separator: ",")
  }

  private func addOperations(to lines: inout [Line]) {
    var id = firstID
    for operation in timeline.operations {
      guard let began = operation.began else { continue }
      let end = max(operation.sliceEnd ?? timeline.ended, began + 1)
      let name = label(operation)
      lines.append(
        Line(
          time: began, rank: -Int(end - began),
          text: head("X", began, thread: operation.thread, name, "operation")
            + ",\"dur\":\(TraceText.microseconds(end - began)),\"args\":{\(arguments(of: operation, began: began))}}"))
      if operation.isAsynchronous {
        let finish = max(operation.finished ?? timeline.ended, began)
        lines.append(
          Line(
            time: began, rank: 1,
            text: head("b", began, thread: operation.thread, name, "asynchronous") + ",\"id\":\(id)}"))
        lines.append(
          Line(
            time: finish, rank: 4,
            text: head("e", finish, thread: operation.thread, name, "asynchronous") + ",\"id\":\(id)}"))
        id += 1
      }
      for dependency in operation.dependencies {
        let source = timeline.operations[dependency]
        guard let sourceBegan = source.began else { continue }
        // The arrow begins inside the slice of the dependency that finished: the slice's end is the finish, or came
        // before the finish.
        let sourceEnd = max(source.sliceEnd ?? timeline.ended, sourceBegan + 1)
        let departure = max(sourceBegan, min(sourceEnd - 1, began))
        lines.append(
          Line(
            time: departure, rank: 1,
            text: head("s", departure, thread: source.thread, "dependency", "dependency") + ",\"id\":\(id)}"))
        lines.append(
          Line(
            time: began, rank: 2,
            text: head("f", began, thread: operation.thread, "dependency", "dependency")
              + ",\"bp\":\"e\",\"id\":\(id)}"))
        id += 1
      }
    }
  }

  private func addSlices(to lines: inout [Line]) {
    for slice in timeline.slices {
      let end = max(slice.end, slice.begin + 1)
      let (name, category) =
        switch slice.kind {
        case .parked: ("asleep", "worker")
        case .callout: ("callout", "worker")
        case .waiting(let operation): ("waits for \(label(operation))", "wait")
        case .fork(let operation): (operation.map { "fork of \(label($0))" } ?? "fork", "fork")
        case .node(let name, let operation): (operation.map { "\(name) of \(label($0))" } ?? name, "node")
        case .part(let operation): (operation.map { "part of \(label($0))" } ?? "part", "part")
        case .task(let part): (part.name ?? functionNames[part.functions] ?? "task \(part.number)", "task")
        case .turn: ("turn of an actor", "task")
        }
      let arguments =
        if case .task(let part) = slice.kind { ",\"args\":{\(self.arguments(of: part, began: slice.begin))}" } else {
          ""
        }
      lines.append(
        Line(
          time: slice.begin, rank: -Int(end - slice.begin),
          text: head("X", slice.begin, thread: slice.thread, name, category)
            + ",\"dur\":\(TraceText.microseconds(end - slice.begin))\(arguments)}"))
    }
  }

  private func arguments(of part: TraceTimeline.TaskPart, began: UInt64) -> String {
    var facts = [
      "\"task\":\(part.number)",
      "\"priority\":\(TraceText.quoted(TaskDiagnosis.words(TaskPriority(rawValue: part.priority))))",
    ]
    if part.name != nil, let function = functionNames[part.functions] {
      facts.append("\"function\":\(TraceText.quoted(function))")
    }
    if let ready = part.ready {
      facts.append("\"us since ready\":\(TraceText.microseconds(began - min(ready, began)))")
    }
    return facts.joined(separator: ",")
  }

  private func addInstants(to lines: inout [Line]) {
    for instant in timeline.instants {
      let (name, category, arguments) = describe(instant.kind)
      lines.append(
        Line(
          time: instant.time, rank: 3,
          text: head("i", instant.time, thread: instant.thread, name, category)
            + ",\"s\":\"t\",\"args\":{\(arguments)}}"))
    }
  }

  private func describe(_ kind: TraceTimeline.Instant.Kind) -> (name: String, category: String, arguments: String) {
    switch kind {
    case .skipped(let index): ("cancelled: \(label(index))", "cancelled", "")
    case .finishes(let index): ("finishes \(label(index))", "asynchronous", "")
    case .steals(let index, let victim):
      (
        "steals", "worker",
        (index.map { "\"operation\":\(TraceText.quoted(label($0)))," } ?? "") + "\"from\":\(thread(victim))"
      )
    case .wakes(let woken): ("wakes", "worker", "\"thread\":\(thread(woken))")
    case .threadBegins(let isSpare): (isSpare ? "spare worker begins" : "worker begins", "worker", "")
    case .threadEnds: ("worker ends", "worker", "")
    case .addsSpares(let count): ("adds spare workers", "worker", "\"count\":\(count)")
    }
  }

  private func thread(_ id: UInt32) -> String {
    let name = timeline.threads.last { $0.id == Int32(bitPattern: id) }?.name
    return TraceText.quoted(name.map { "\($0) (\(id))" } ?? "\(id)")
  }

  private func addCounts(to lines: inout [Line]) {
    for count in timeline.counts {
      lines.append(
        Line(
          time: count.time, rank: 5,
          text: "{\"ph\":\"C\",\"pid\":\(process),\"ts\":\(stamp(count.time)),\"name\":\"operations\","
            + "\"args\":{\"ready\":\(count.ready),\"running\":\(count.running)}}"))
    }
  }
}
