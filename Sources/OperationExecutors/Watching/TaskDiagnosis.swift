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
    /// The task sleeps, by `Task.sleep` or on a clock of the system.
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
  /// For how long the library has known the task, in nanoseconds: since it was first handed over.
  public let age: UInt64
  /// How long ago the library last saw the task change, in nanoseconds: it was handed over, began to run, stopped, or
  /// ended to await an operation. An actor may have run the task since.
  public let sinceChange: UInt64
  private let hasTimes: Bool
  /// Where the task goes on, and the functions that await that one; at most four. Of a task that runs: where it last
  /// went on. Empty where the program has no symbols.
  public let functions: [String]

  /// The tasks that have not ended, among those that came to a backend, the default executor or an operation, the
  /// oldest first. Empty without OPERATIONS_DUMP in the environment, and with a version of Swift's runtime whose tasks
  /// this library does not know (6.1 to 6.3 are known).
  ///
  /// A snapshot, for people and logs. May be called on any thread, blocks no task, and takes the lock of the dynamic
  /// loader for moments. Each function that is shown is looked up once among the symbols of the program: O(tasks +
  /// functions · symbols).
  public static var all: [TaskDiagnosis] { diagnoses(TaskWatch.all()) }

  /// Why no task can be listed; nil where tasks can be.
  package static var obstacle: String? {
    var word: UInt = 1
    if cplatform_task_metadata() == 0 { return "tasks are not listed: this version of Swift's runtime is not known" }
    let canRead = withUnsafeMutablePointer(to: &word) { cplatform_read_memory(UInt(bitPattern: $0), $0, 8) }
    return canRead ? nil : "tasks are not listed: the system refuses process_vm_readv"
  }

  /// The given tasks without times, in lines for people. Those that have ended are left out.
  /// - Parameter tasks: by the runtime's numbers: where each lies, and as which number it is shown.
  package static func lines(of tasks: [UInt64: (address: UInt, shown: UInt64)]) -> [String] {
    let sights = TaskWatch.all(at: Set(tasks.values.map(\.address))).filter { tasks[$0.memory.number] != nil }
    return lines(diagnoses(sights, shownAs: tasks.mapValues(\.shown)))
  }

  /// - Parameter numbers: as which number each task is shown; nil for the runtime's number, and then with times.
  private static func diagnoses(_ all: [TaskWatch.Sight], shownAs numbers: [UInt64: UInt64]? = nil) -> [TaskDiagnosis] {
    let awaited = [UInt64: UInt64](
      all.compactMap { if case .task(let other)? = $0.memory.dependency { ($0.entry.number, other) } else { nil } },
      uniquingKeysWith: { first, _ in first })
    let circles = circle(awaited)
    var names = FunctionNames()
    return all.map { TaskDiagnosis($0, circles, numbers, &names) }
  }

  private init(
    _ sight: TaskWatch.Sight, _ circles: Set<UInt64>, _ numbers: [UInt64: UInt64]?, _ names: inout FunctionNames
  ) {
    let (entry, memory) = (sight.entry, sight.memory)
    func shown(_ number: UInt64) -> UInt64 { numbers.map { $0[number] ?? 0 } ?? number }
    number = shown(memory.number)
    name = memory.name
    priority = TaskPriority(rawValue: memory.priority)
    isCancelled = memory.isCancelled
    parent = memory.parent.flatMap(TaskMemory.number(at:)).map(shown)
    hasTimes = numbers == nil
    let now = cplatform_now_ns()
    (age, sinceChange) = (now &- min(now, entry.since), now &- min(now, entry.changed))
    let (functions, sleeps) = names.functions(of: memory)
    self.functions = functions
    state =
      switch memory.dependency {
      case _ where memory.isRunning: .runs(thread: entry.thread == 0 ? nil : Int(entry.thread))
      case .task(let other)?: .awaitsTask(shown(other), inCircle: circles.contains(memory.number))
      case .children?: .awaitsChildren
      case .executor(0, _)?: .waitsForThread
      case .executor(let object, let kind)?: .waitsForTurn(on: names.executor(object, kind))
      case .continuation?:
        if let words = sight.awaited { .awaitsOperation(words) } else { sleeps ? .sleeps : .awaitsContinuation }
      case nil: .changes
      }
  }

  /// The tasks that await themselves, through others. O(n): each awaits at most one.
  private static func circle(_ awaited: [UInt64: UInt64]) -> Set<UInt64> {
    var circles: Set<UInt64> = []
    var seen: [UInt64: UInt64] = [:]
    for start in awaited.keys where seen[start] == nil {
      var now = start
      while seen[now] == nil, let next = awaited[now] {
        seen[now] = start
        now = next
      }
      // This walk has come back to itself, unless it met an earlier one.
      guard seen[now] == start else { continue }
      while circles.insert(now).inserted, let next = awaited[now] { now = next }
    }
    return circles
  }

  /// A line for the task, and one for its functions.
  public var description: String {
    let title =
      "task \(number)" + (name.map { " \"\($0)\"" } ?? "") + (parent.map { ", a child of \(Self.task($0))" } ?? "")
    let more = "priority \(Self.words(priority))" + (isCancelled ? ", cancelled" : "")
    let age = hasTimes ? ", \(milliseconds(age)) old" : ""
    // A task that changes has done so just now.
    let time = hasTimes && state != .changes ? " for at most \(milliseconds(sinceChange))" : ""
    return "\(title), \(more)\(age): \(stateInWords)\(time)"
      + (functions.isEmpty ? "" : "\n  in " + functions.joined(separator: "\n  for "))
  }

  /// A test shows its own tasks by its own numbers, and any other one as 0.
  private static func task(_ number: UInt64) -> String {
    number == 0 ? "a task outside of the test" : "task \(number)"
  }

  private var stateInWords: String {
    switch state {
    case .waitsForThread: "has waited for a thread"
    case .waitsForTurn(let executor): "has waited for its turn on \(executor)"
    case .runs(let thread): "has run" + (thread.map { " on thread \($0)" } ?? " inside of another job")
    case .awaitsTask(let other, let inCircle):
      "has awaited \(Self.task(other))\(inCircle ? ", which awaits it, in a circle," : "")"
    case .awaitsChildren: "has awaited its child tasks"
    case .awaitsOperation(let words): "has awaited \(words),"
    case .sleeps: "has slept"
    case .awaitsContinuation: "has waited for somebody to resume its continuation"
    case .changes: "changes at this moment"
    }
  }

  package static func words(_ priority: TaskPriority) -> String {
    switch priority {
    case TaskPriority(rawValue: 0): "none"
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

  /// Where a task stands, without what tells it from others of its name there.
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
