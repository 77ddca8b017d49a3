import CPlatform
import OperationJobs
import Primitives

/// A task that has not ended, and what it waits for, at some instant.
///
/// ```swift
/// import Operations
///
/// // OPERATIONS_DUMP=1 is set.
/// for task in TaskDiagnosis.all { print(task) }
/// ```
public struct TaskDiagnosis: Sendable, CustomStringConvertible {
  /// What a task does, or waits for.
  public enum State: Sendable, Equatable {
    /// The task was handed over, and no thread has taken it yet.
    case waitsForThread
    /// The task waits for its turn on an actor, or on another executor: the name of the type, and the address.
    case waitsForTurn(on: String)
    /// The thread that runs the task; nil where another job took the task over in place.
    case runs(thread: Int?)
    /// The task awaits another one, by number. `inCircle`: that one waits for this one, through others.
    case awaitsTask(UInt64, inCircle: Bool)
    /// The task awaits its child tasks.
    case awaitsChildren
    /// The task awaits an operation: which, and where that is.
    case awaitsOperation(String)
    /// The task is in `Task.sleep`.
    case sleeps
    /// The task waits until somebody resumes its continuation.
    case awaitsContinuation
    /// The task changed while it was looked at.
    case changes
  }

  /// The runtime's number of the task.
  public let number: UInt64
  /// The name that the task was made with.
  public let name: String?
  /// The task's priority, as somebody may have raised it.
  public let priority: TaskPriority
  /// Whether the task was cancelled.
  public let isCancelled: Bool
  /// The number of the task whose child this one is.
  public let parent: UInt64?
  /// What the task does, or waits for.
  public let state: State
  /// Since when the library has known the task, in nanoseconds before now: since it was first handed over.
  public let age: UInt64
  /// When the task was last handed over, or began to run, or stopped, in nanoseconds before now.
  public let sinceChange: UInt64
  /// Where the task goes on, and the functions that await that one; at most four. Empty where the program has no
  /// symbols.
  public let functions: [String]

  /// The tasks that have not ended, among those that came to a backend, the default executor or an operation, the
  /// oldest first. Empty without OPERATIONS_DUMP in the environment, and with a version of Swift's runtime whose tasks
  /// this library does not know (6.1 to 6.3 are known).
  ///
  /// A snapshot, for people and logs. May be called on any thread, blocks no task. Reads the symbols of the program:
  /// O(tasks · symbols).
  public static var all: [TaskDiagnosis] {
    let all = TaskWatch.all()
    let awaited = [UInt64: UInt64](
      all.compactMap { if case .task(let other)? = $0.memory.dependency { ($0.entry.number, other) } else { nil } },
      uniquingKeysWith: { first, _ in first })
    var names = FunctionNames()
    return all.map { TaskDiagnosis($0.entry, $0.memory, awaited, &names) }
  }

  private init(
    _ entry: TaskWatch.Entry, _ memory: TaskMemory, _ awaited: [UInt64: UInt64], _ names: inout FunctionNames
  ) {
    number = memory.number
    name = memory.name
    priority = TaskPriority(rawValue: memory.priority)
    isCancelled = memory.isCancelled
    parent = memory.parent.flatMap(TaskMemory.number(at:))
    let now = cplatform_now_ns()
    (age, sinceChange) = (now &- min(now, entry.since), now &- min(now, entry.changed))
    let (functions, sleeps) = names.functions(of: memory)
    self.functions = functions
    state =
      switch memory.dependency {
      case _ where memory.isRunning: .runs(thread: entry.thread == 0 ? nil : Int(entry.thread))
      case .task(let other)?: .awaitsTask(other, inCircle: Self.isInCircle(memory.number, awaited))
      case .children?: .awaitsChildren
      case .executor(0, _)?: .waitsForThread
      case .executor(let object, let kind)?: .waitsForTurn(on: names.executor(object, kind))
      case .continuation?:
        if let words = entry.awaited?() { .awaitsOperation(words) } else { sleeps ? .sleeps : .awaitsContinuation }
      case nil: .changes
      }
  }

  private static func isInCircle(_ number: UInt64, _ awaited: [UInt64: UInt64]) -> Bool {
    var next = awaited[number]
    // No circle has more members than there are tasks.
    for _ in 0..<awaited.count {
      guard let now = next else { return false }
      if now == number { return true }
      next = awaited[now]
    }
    return false
  }

  /// A line for the task, and one for its functions.
  public var description: String {
    let title = "task \(number)" + (name.map { " \"\($0)\"" } ?? "") + (parent.map { ", a child of task \($0)" } ?? "")
    let more = "priority \(Self.words(priority))" + (isCancelled ? ", cancelled" : "")
    return "\(title), \(more), \(milliseconds(age)) old: \(stateInWords) for \(milliseconds(sinceChange))"
      + (functions.isEmpty ? "" : "\n  in " + functions.joined(separator: "\n  for "))
  }

  private var stateInWords: String {
    switch state {
    case .waitsForThread: "has waited for a thread"
    case .waitsForTurn(let executor): "has waited for its turn on \(executor)"
    case .runs(let thread): "has run" + (thread.map { " on thread \($0)" } ?? " inside of another job")
    case .awaitsTask(let other, let inCircle):
      "has awaited task \(other)\(inCircle ? ", which awaits it, in a circle," : "")"
    case .awaitsChildren: "has awaited its child tasks"
    case .awaitsOperation(let words): "has awaited \(words),"
    case .sleeps: "has slept"
    case .awaitsContinuation: "has waited for somebody to resume its continuation"
    case .changes: "has gone on"
    }
  }

  private static func words(_ priority: TaskPriority) -> String {
    switch priority {
    case .background: "background"
    case .utility: "low"
    case .medium: "medium"
    case .userInitiated: "high"
    default: "\(priority.rawValue)"
    }
  }

  /// The tasks for people. Of those that stand at the same place the oldest is shown, and how many others there are.
  package static func lines(_ all: [TaskDiagnosis]) -> [String] {
    guard !all.isEmpty else { return [] }
    var alike: [Place: Int] = [:]
    var first: [TaskDiagnosis] = []
    for task in all {
      alike[task.place, default: 0] += 1
      if alike[task.place] == 1 { first.append(task) }
    }
    let lines = first.prefix(mostLines).map { task in
      let others = (alike[task.place] ?? 1) - 1
      return task.description + (others > 0 ? "\n  and \(counted(others, "other task")) at the same place" : "")
    }
    let rest = first.count - mostLines
    return [counted(all.count, "task")] + lines + (rest > 0 ? ["and tasks at \(counted(rest, "other place"))"] : [])
  }

  private static var mostLines: Int { 64 }

  /// Where a task stands, without what tells it from others there. A task with a name is one of its own.
  private struct Place: Hashable {
    let name: String?
    let functions: [String]
    let words: String
  }

  private var place: Place {
    let words =
      switch state {
      case .awaitsTask(_, inCircle: false): "awaits a task"
      case .runs: "runs"
      default: stateInWords
      }
    return Place(name: name, functions: functions, words: words)
  }
}

/// Names of functions, each looked up once.
private struct FunctionNames {
  private var known: [UInt: String?] = [:]
  private static let most = 4
  private static let longest = 200

  /// - Returns: the user's functions, and whether the task is in `Task.sleep`.
  mutating func functions(of task: TaskMemory) -> (names: [String], sleeps: Bool) {
    var names: [String] = []
    var sleeps = false
    func add(_ address: UInt) {
      guard let symbol = symbol(address) else { return }
      sleeps = sleeps || (names.isEmpty && symbol.hasPrefix("$sScT") && symbol.hasPart("5sleep"))
      guard names.count < Self.most, let name = Self.name(of: symbol), names.last != name else { return }
      names.append(name)
    }
    for function in task.functions { add(function) }
    if names.isEmpty, let entry = task.entry { add(entry) }
    return (names, sleeps)
  }

  private mutating func symbol(_ address: UInt) -> String? {
    if let symbol = known[address] { return symbol }
    let symbol = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer -> String? in
      guard let base = buffer.baseAddress, cplatform_function_name(address, base, buffer.count) else { return nil }
      return String(cString: base)
    }
    known[address] = .some(symbol)
    return symbol
  }

  /// A function's name as in source; nil for one of the runtime's or of this library's.
  private static func name(of symbol: String) -> String? {
    let own = ["$s13OperationCore", "$s18OperationExecutors"]
    // Of the standard library, and of the module of tasks.
    let system = ["$ss", "$sS"]
    guard symbol.hasPrefix("$s"), !(own + system).contains(where: symbol.hasPrefix),
      let text = cplatform_demangled(symbol)
    else { return nil }
    defer { cplatform_free(text) }
    var name = Substring(String(cString: text))
    // "(1) await resume partial function for partial apply forwarder for …"
    let kinds = [
      "await resume partial function for ", "suspend resume partial function for ", "partial apply forwarder for ",
    ]
    if name.hasPrefix("("), let end = name.firstIndex(of: " ") { name = name[name.index(after: end)...] }
    while let kind = kinds.first(where: name.hasPrefix) { name = name.dropFirst(kind.count) }
    guard !name.hasPrefix("reabstraction thunk") else { return nil }
    let words = withoutFiles(name)
    return words.count > longest ? words.prefix(longest) + "…" : words
  }

  /// What is private to a file has the name "(name in _0123456789ABCDEF…)".
  private static func withoutFiles(_ name: Substring) -> String {
    var words = ""
    var parts = name.split(separator: " ", omittingEmptySubsequences: false)[...]
    while let part = parts.popFirst() {
      if parts.first == "in", let file = parts.dropFirst().first, file.hasPrefix("_"),
        let end = file.firstIndex(of: ")"), let begin = part.lastIndex(of: "(")
      {
        words += part[..<begin] + part[part.index(after: begin)...] + file[file.index(after: end)...]
        parts = parts.dropFirst(2)
      } else {
        words += part
      }
      if !parts.isEmpty { words += " " }
    }
    return words
  }

  /// An actor, by its type and address.
  mutating func executor(_ object: UInt, _ kind: UInt) -> String {
    let address = "0x" + String(object, radix: 16)
    let main = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self)
    if (object, kind) == main { return "the main actor" }
    // Only what lies in a file is surely the description of a type.
    guard let type = TaskMemory.read(object, 1)?[0], cplatform_is_in_image(type) else {
      return "the executor \(address)"
    }
    let name = _typeName(unsafeBitCast(type, to: Any.Type.self), qualified: false)
    return kind == 0 ? "the actor <\(name) \(address)>" : "the executor <\(name) \(address)>"
  }
}

extension String {
  fileprivate func hasPart(_ part: String) -> Bool {
    indices.contains { self[$0...].hasPrefix(part) }
  }
}
