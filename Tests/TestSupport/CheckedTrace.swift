import struct Foundation.Data
import class Foundation.JSONSerialization

/// A file in Chrome's trace format, read by a parser that is not ours and held to the format's rules: every violation
/// is in `problems`.
public struct CheckedTrace {
  public struct Slice {
    public let name: String
    public let category: String
    public let process: Int
    public let thread: Int
    /// Nanoseconds.
    public let begin: Int
    public let end: Int
    public let arguments: [String: Any]
  }

  public struct Instant {
    public let name: String
    public let process: Int
    public let thread: Int
    public let time: Int
    public let arguments: [String: Any]
  }

  public private(set) var problems: [String] = []
  /// In the order of the file.
  public private(set) var slices: [Slice] = []
  public private(set) var instants: [Instant] = []
  /// Indices into `slices`.
  public private(set) var arrows: [(from: Int, to: Int)] = []
  /// Names of operations shown as asynchronous.
  public private(set) var asynchronous: [String] = []
  /// By process.
  public private(set) var processNames: [Int: String] = [:]
  public private(set) var threadNames: [Place: String] = [:]
  public private(set) var facts: [String: String] = [:]
  /// The highest value of each counter.
  public private(set) var peaks: [String: Int] = [:]

  public struct Place: Hashable {
    public let process: Int
    public let thread: Int

    public init(process: Int, thread: Int) {
      self.process = process
      self.thread = thread
    }
  }

  private struct Ends {
    var starts: [(time: Int, place: Place)] = []
    var finishes: [(time: Int, place: Place)] = []
  }
  private var flows: [Int: Ends] = [:]
  private var spans: [String: [(isBegin: Bool, time: Int, name: String)]] = [:]
  private var counters: [String: Int] = [:]
  private var seen: Set<Place> = []
  /// By process: each has a clock of its own.
  private var lastTimes: [Int: Int] = [:]

  public init(_ text: String) {
    let root = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    guard let object = root as? [String: Any], let events = object["traceEvents"] as? [[String: Any]] else {
      problems.append("not a JSON object with an array traceEvents of objects")
      return
    }
    if !["ns", "ms"].contains(object["displayTimeUnit"] as? String) { problems.append("no displayTimeUnit") }
    facts = object["otherData"] as? [String: String] ?? [:]
    for event in events { take(event) }
    checkNesting()
    checkFlows()
    checkSpans()
    for (name, value) in counters where value != 0 { problems.append("the counter \(name) ends at \(value)") }
    for place in seen where threadNames[place] == nil { problems.append("\(place) has no name") }
    for process in Set(seen.map(\.process)) where processNames[process] == nil {
      problems.append("process \(process) has no name")
    }
  }

  public func operations(named name: String) -> [Slice] {
    slices.filter { $0.category == "operation" && $0.name == name }
  }

  // MARK: - Events

  private mutating func take(_ event: [String: Any]) {
    func fail(_ what: String) { problems.append("\(what): \(event)") }
    guard let phase = event["ph"] as? String, let process = event["pid"] as? Int, let name = event["name"] as? String
    else { return fail("no phase, process or name") }
    let arguments = event["args"] as? [String: Any] ?? [:]
    let thread = event["tid"] as? Int
    if phase == "M" { return takeMetadata(name, arguments, process, thread, event) }
    guard let time = Self.nanoseconds(event["ts"]), time >= 0 else { return fail("no time") }
    if time < lastTimes[process] ?? 0 { fail("before the event that stands before it") }
    lastTimes[process] = time
    if phase == "C" {
      if arguments.isEmpty { fail("a counter without a value") }
      for (series, value) in arguments {
        guard let value = value as? Int, value >= 0 else { return fail("\(series) is not a count") }
        let key = "\(process) \(name) \(series)"
        counters[key] = value
        peaks[series] = max(peaks[series] ?? 0, value)
      }
      return
    }
    guard let thread else { return fail("no thread") }
    guard let category = event["cat"] as? String else { return fail("no category") }
    let place = Place(process: process, thread: thread)
    seen.insert(place)
    switch phase {
    case "X":
      guard let duration = Self.nanoseconds(event["dur"]), duration >= 0 else { return fail("no duration") }
      slices.append(
        Slice(
          name: name, category: category, process: process, thread: thread, begin: time, end: time + duration,
          arguments: arguments))
    case "i":
      if event["s"] as? String != "t" { fail("no scope") }
      instants.append(Instant(name: name, process: process, thread: thread, time: time, arguments: arguments))
    case "s", "f":
      guard let id = event["id"] as? Int else { return fail("no number") }
      if phase == "s" {
        flows[id, default: Ends()].starts.append((time, place))
      } else {
        if event["bp"] as? String != "e" { fail("does not bind to the slice around it") }
        flows[id, default: Ends()].finishes.append((time, place))
      }
    case "b", "e":
      guard let id = event["id"] as? Int else { return fail("no number") }
      spans["\(process) \(category) \(id)", default: []].append((phase == "b", time, name))
    default: fail("unknown phase")
    }
  }

  private mutating func takeMetadata(
    _ name: String, _ arguments: [String: Any], _ process: Int, _ thread: Int?, _ event: [String: Any]
  ) {
    switch (name, thread) {
    case ("process_name", _):
      if processNames[process] != nil { problems.append("process \(process) has two names") }
      guard let label = arguments["name"] as? String else { return problems.append("no name: \(event)") }
      processNames[process] = label
    case ("thread_name", let thread?):
      let place = Place(process: process, thread: thread)
      if threadNames[place] != nil { problems.append("\(place) has two names") }
      guard let label = arguments["name"] as? String else { return problems.append("no name: \(event)") }
      threadNames[place] = label
    case ("thread_sort_index", _?):
      if arguments["sort_index"] as? Int == nil { problems.append("no index: \(event)") }
    default: problems.append("unknown metadata: \(event)")
    }
  }

  private static func nanoseconds(_ value: Any?) -> Int? {
    (value as? Double).map { Int(($0 * 1_000).rounded()) }
  }

  // MARK: - Rules across events

  /// The slices of a thread are inside one another or apart.
  private mutating func checkNesting() {
    for (_, ofThread) in Dictionary(grouping: slices, by: { Place(process: $0.process, thread: $0.thread) }) {
      var open: [Slice] = []
      for slice in ofThread.sorted(by: { ($0.begin, -$0.end) < ($1.begin, -$1.end) }) {
        while let last = open.last, last.end <= slice.begin { open.removeLast() }
        if let last = open.last, slice.end > last.end {
          problems.append("\(slice.name) at \(slice.begin) begins inside of \(last.name) and ends outside")
        }
        open.append(slice)
      }
    }
  }

  /// Each arrow has one start and one end, in order, both inside a slice.
  private mutating func checkFlows() {
    // In the order of the file, so by their beginnings.
    let byThread = Dictionary(grouping: slices.indices) {
      Place(process: slices[$0].process, thread: slices[$0].thread)
    }
    func around(_ end: (time: Int, place: Place)) -> Int? {
      guard let candidates = byThread[end.place] else { return nil }
      var low = 0
      var high = candidates.count
      while low < high {
        let middle = (low + high) / 2
        if slices[candidates[middle]].begin <= end.time { low = middle + 1 } else { high = middle }
      }
      // The innermost: what began last and is not over.
      return candidates[..<low].last { end.time < slices[$0].end }
    }
    for (id, ends) in flows.sorted(by: { $0.key < $1.key }) {
      guard ends.starts.count == 1, ends.finishes.count == 1 else {
        problems.append("arrow \(id) has \(ends.starts.count) starts and \(ends.finishes.count) ends")
        continue
      }
      if ends.finishes[0].time < ends.starts[0].time { problems.append("arrow \(id) goes back in time") }
      guard let from = around(ends.starts[0]), let to = around(ends.finishes[0]) else {
        problems.append("arrow \(id) binds to no slice")
        continue
      }
      arrows.append((from, to))
    }
  }

  private mutating func checkSpans() {
    for (id, events) in spans {
      guard events.count == 2, events[0].isBegin, !events[1].isBegin, events[0].name == events[1].name else {
        problems.append("the asynchronous \(id) does not begin and end once")
        continue
      }
      asynchronous.append(events[0].name)
    }
  }
}
