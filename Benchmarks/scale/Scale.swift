import Dispatch
import Glibc
import Growth
import Operations
import Primitives
import Subjects
import Synchronization

/// Shows whether the cost per operation stays the same as graphs grow. Each shape is built, run and released at 10,000
/// and at 1,000,000 operations. The output has the time per operation and the peak memory of the shape's own process.
///
/// `scale` runs every shape in a fresh process of itself. `scale SHAPE COUNT BACKEND` runs one shape. `scale calls`
/// shows how the cost of single calls grows, and fails where a call costs a square.
@main
enum Scale {
  static let shapes = ["chain", "fan-in", "fan-out", "cancel", "barriers"]
  static let counts = [10_000, 1_000_000]
  static let backends = OwnBackends.choices.map { $0.name }

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.isEmpty {
      runAll()
    } else if arguments == ["calls"] {
      exit(CallCurves.run() ? 0 : 70)
    } else if arguments.count == 3, let first = arguments.first, shapes.contains(first),
      let count = Int(arguments[arguments.startIndex + 1]), count > 0, let name = arguments.last,
      backends.contains(name)
    {
      measure(first, count, on: name)
    } else {
      complain(
        "usage: scale, scale calls, or scale SHAPE COUNT BACKEND with a shape of \(shapes), a count above 0, a backend of \(backends)"
      )
      exit(64)
    }
  }

  static func complain(_ line: String) {
    let text = "scale: \(line)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }

  private static func runAll() {
    print("backend     shape      operations   ns/operation   peak MB")
    var failed = false
    for backend in backends {
      for shape in shapes {
        for count in counts where !spawn([shape, String(count), backend]) { failed = true }
      }
    }
    exit(failed ? 70 : 0)
  }

  /// - Returns: whether the process ended well.
  private static func spawn(_ arguments: [String]) -> Bool {
    fflush(nil)
    let words = ["/proc/self/exe"] + arguments
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var child = pid_t()
    guard posix_spawn(&child, "/proc/self/exe", nil, nil, &pointers, environ) == 0 else { return false }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { complain("\(arguments.joined(separator: " ")) failed with status \(status)") }
    return status == 0
  }

  private static func measure(_ shape: String, _ count: Int, on name: String) {
    guard let choice = OwnBackends.choices.first(where: { $0.name == name }) else { return }
    let backend: any Backend = choice.makeBackend(
      workers: CPUCount.available(), fairnessInterval: Fairness.defaultInterval)
    let ran = Counter()
    let began = DispatchTime.now()
    let expected = Shapes.run(shape, count, OperationQueue(backend: backend), ran)
    let nanoseconds = DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds
    guard ran.value.load(ordering: .relaxed) == expected else {
      complain("\(shape): \(ran.value.load(ordering: .relaxed)) bodies ran, expected \(expected)")
      exit(70)
    }
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    print(
      column(name, 12) + column(shape, 11) + column(String(count), 13)
        + column(String(Int(nanoseconds) / count), 15) + String(usage.ru_maxrss / 1024))
  }

  static func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}

/// Counts the bodies that ran.
final class Counter: Sendable {
  let value = Atomic<Int>(0)
  func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}

/// The graphs. Each is released when its function returns.
enum Shapes {
  /// - Returns: the number of bodies that have to run.
  static func run(_ shape: String, _ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    switch shape {
    case "chain": chain(count, queue, ran)
    case "fan-in": fanIn(count, queue, ran)
    case "fan-out": fanOut(count, queue, ran)
    case "cancel": cancel(count, queue, ran)
    default: barriers(count, queue, ran)
    }
  }

  private static func chain(_ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    let operations = make(count, ran)
    for index in 1..<count { operations[index].addDependency(operations[index - 1]) }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.waitUntilAllOperationsAreFinished()
    return count
  }

  private static func fanIn(_ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    let operations = make(count, ran)
    let last = BlockOperation { ran.increment() }
    for operation in operations { last.addDependency(operation) }
    queue.addOperation(last)
    queue.addOperations(operations, waitUntilFinished: false)
    queue.waitUntilAllOperationsAreFinished()
    return count + 1
  }

  private static func fanOut(_ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    let operations = make(count, ran)
    let first = BlockOperation { ran.increment() }
    for operation in operations { operation.addDependency(first) }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.addOperation(first)
    queue.waitUntilAllOperationsAreFinished()
    return count + 1
  }

  /// A chain behind a gate that never opens, so that nothing may run.
  private static func cancel(_ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    let gate = BlockOperation()
    let operations = make(count, ran)
    for operation in operations { operation.addDependency(gate) }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    return 0
  }

  /// Every tenth operation is a barrier.
  private static func barriers(_ count: Int, _ queue: OperationQueue, _ ran: Counter) -> Int {
    for index in 0..<count {
      if index % 10 == 9 {
        queue.addBarrierBlock { ran.increment() }
      } else {
        queue.addOperation { ran.increment() }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    return count
  }

  private static func make(_ count: Int, _ ran: Counter) -> [Operation] {
    (0..<count).map { _ in BlockOperation { ran.increment() } }
  }
}
