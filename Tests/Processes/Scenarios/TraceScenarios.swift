import Glibc
import OperationTraceEvents
import Operations
import TestSupport

/// What is traced. The first kind knows nothing of it: OPERATIONS_TRACE does it from outside. The others use the API,
/// and write where TRACE_FILE says.
enum TraceScenarios {
  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [
      "trace-full": { full() }, "trace-while-running": { whileRunning() }, "trace-part": { part() },
      "trace-fork": { fork() }, "trace-api": { api() }, "trace-moves": { moves() },
    ]
    for backend in allBackends {
      all["trace-program-\(backend)"] = { attempt { try backend.withBackend(workers: 2) { try program(on: $0) } } }
    }
    for backend in compensatingBackends {
      all["study-\(backend)"] = { attempt { try backend.withBackend(workers: 2) { try studied(on: $0) } } }
    }
    for backend in compensatingBackends {
      all["trace-spare-\(backend)"] = { attempt { try backend.withBackend(workers: 1) { try blocked(on: $0) } } }
    }
    return all
  }()

  /// Quotes, a line break, a backslash, a control character, and characters of two to four bytes.
  static let oddName = "say \"hello\"\n\\ \u{1} é 語 🙂"
  static let oddQueue = "the \"odd\" queue"

  private static func attempt(_ body: () throws -> Void) {
    do { try body() } catch {
      print("\(error)")
      exit(1)
    }
  }

  private static var file: String { String(cString: getenv("TRACE_FILE")) }

  private static func operation(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> Operation {
    let operation = BlockOperation(block: body)
    operation.name = name
    return operation
  }

  // MARK: - Studies

  /// Counts, activities and delays of a run. What is wrong is printed.
  private static func studied(on backend: any Backend) throws {
    let queue = OperationQueue(backend: backend)
    let count = 200
    func run() {
      let operations = (0..<count).map { _ in BlockOperation {} }
      for (operation, next) in zip(operations, operations.dropFirst()) { next.addDependency(operation) }
      queue.addOperations(operations, waitUntilFinished: true)
    }
    func check(_ holds: Bool, _ what: String) { if !holds { print("\(backend.name): \(what)") } }
    let delay: UInt64 = 50_000
    for delays: [TraceEvent.Kind: UInt64] in [[:], [.begins: delay], [.finishesHere: delay], [.added: delay]] {
      ProbeStudy.start(delays: delays)
      run()
      let found = ProbeStudy.stop()
      for kind: TraceEvent.Kind in [.added, .begins, .finishesHere] {
        check(found.counts[kind] == UInt64(count), "\(kind): \(found.counts)")
      }
      // One behind the other, whichever thread runs it.
      let least = delays.isEmpty ? 0 : UInt64(count) * delay
      check(found.elapsed >= least, "\(delays) took \(found.elapsed)")
      let sum = found.times.values.reduce(0, +)
      let whole = found.elapsed * UInt64(found.threads)
      check(found.threads >= 1 && sum <= whole && Double(sum) >= 0.95 * Double(whole), "\(sum) of \(whole): \(found)")
      check(found.times[.body, default: 0] > 0 && found.times[.between, default: 0] > 0, "\(found.times)")
    }
    check(!OperationTrace.isOn, "the study goes on")
    // A recording behind a study has its events, and a study behind a recording its counts.
    OperationTrace.start()
    run()
    check(OperationTrace.stop().json.contains("BlockOperation"), "no events in a recording behind a study")
    ProbeStudy.start()
    run()
    check(ProbeStudy.stop().counts[.begins] == UInt64(count), "behind a recording")
    // A body of the first part of a batch adds a dependency to an operation whose edges are not linked yet.
    let other = OperationQueue(backend: ImmediateBackend())
    let (later, extra) = (BlockOperation {}, BlockOperation {})
    let first = BlockOperation { later.addDependency(extra) }
    let between = (0..<count).map { _ in BlockOperation(dependencies: [first]) {} }
    ProbeStudy.start()
    other.addOperations([first] + between + [later], waitUntilFinished: false)
    check(!later.isFinished, "the first body ran too late to add a dependency")
    other.addOperation(extra)
    check(later.isFinished, "the dependency was lost")
    let edges = ProbeStudy.stop().counts[.edge]
    check(edges == UInt64(count + 1), "\(String(describing: edges)) edges")
  }

  // MARK: - From outside

  private static func program(on backend: any Backend) throws {
    let queue = OperationQueue(backend: backend)
    queue.name = oddQueue
    // A diamond, and a dependency that has finished before it is needed.
    let (first, left, right, last) = (operation("first"), operation("left"), operation("right"), operation("last"))
    for middle in [left, right] {
      middle.addDependency(first)
      last.addDependency(middle)
    }
    queue.addOperations([last, right, left, first], waitUntilFinished: true)
    let late = operation("late")
    late.addDependency(last)
    queue.addOperation(late)
    // Without names; and with an odd one.
    for _ in 0..<50 { queue.addOperation {} }
    queue.addOperation(operation(oddName))
    let urgent = operation("urgent")
    urgent.queuePriority = .veryHigh
    queue.addOperation(urgent)
    try queue.drainInTime()

    // Cancelled before they could start.
    queue.isSuspended = true
    let (cancelled, behind, removed) = (operation("cancelled"), operation("behind"), operation("removed"))
    behind.addDependency(cancelled)
    removed.addDependency(first)
    removed.addDependency(cancelled)
    removed.removeDependency(cancelled)
    queue.addOperations([cancelled, behind, removed], waitUntilFinished: false)
    cancelled.cancel()
    queue.isSuspended = false
    try queue.drainInTime()

    // One at a time.
    let single = OperationQueue(backend: backend)
    single.maxConcurrentOperationCount = 1
    for _ in 0..<20 { single.addOperation(operation("single") { usleep(100) }) }
    try single.drainInTime()

    // One that waits for another, inside itself and elsewhere.
    let other = OperationQueue(backend: backend)
    queue.addOperation(
      operation("outer") {
        let inner = operation("inner")
        other.addOperation(inner)
        inner.waitUntilFinished()
      })
    try queue.drainInTime()

    // One that goes on after its start, and one by hand.
    let asynchronous = AsynchronousOperation { operation in startThread { operation.finish() } }
    asynchronous.name = "asynchronous"
    let after = operation("after")
    after.addDependency(asynchronous)
    queue.addOperations([asynchronous, after], waitUntilFinished: false)
    try queue.drainInTime()
    operation("by hand").start()
  }

  /// On one worker, which blocks until another operation has run.
  private static func blocked(on backend: any Backend) throws {
    let queue = OperationQueue(backend: backend)
    let asynchronous = AsynchronousOperation { _ in }
    asynchronous.name = "awaited"
    let waiting = operation("waiting") { asynchronous.waitUntilFinished() }
    queue.addOperations(
      [asynchronous, waiting, operation("helping") { asynchronous.finish() }], waitUntilFinished: false)
    try queue.drainInTime()
  }

  // MARK: - By the API

  private static func api() {
    attempt {
      if OperationTrace.isOn { throw Wrong("tracing was on from the beginning") }
      let queue = OperationQueue(backend: .stealing)
      queue.addOperations([operation("before")], waitUntilFinished: true)
      OperationTrace.start()
      if !OperationTrace.isOn { throw Wrong("tracing is not on") }
      queue.addOperations([operation("earlier recording")], waitUntilFinished: true)
      OperationTrace.start()
      queue.addOperations([operation("inside")], waitUntilFinished: true)
      let sofar = OperationTrace.snapshot().json
      if !sofar.contains("inside") { throw Wrong("the snapshot lacks an operation") }
      let trace = OperationTrace.stop()
      if OperationTrace.isOn { throw Wrong("tracing is still on") }
      queue.addOperations([operation("behind")], waitUntilFinished: true)
      try trace.write(to: file)
      // Once more: the last recording is still there.
      if OperationTrace.stop().json != trace.json { throw Wrong("a second stop gives something else") }
      do {
        try trace.write(to: "/no/such/folder/trace.json")
        throw Wrong("a trace was written to a folder that does not exist")
      } catch let error as OperationTraceError {
        print(error)
      }
    }
  }

  /// More than there is room for.
  private static func full() {
    attempt {
      OperationTrace.start(eventLimit: 300)
      let queue = OperationQueue(backend: .stealing)
      for index in 0..<1_000 { queue.addOperation(operation("operation number \(index) has a name of some length")) }
      try queue.drainInTime()
      let trace = OperationTrace.stop()
      try trace.write(to: file)
      print("dropped \(trace.droppedEventCount)")
    }
  }

  /// Begun while operations wait and run, and ended while they do.
  private static func part() {
    attempt {
      let queue = OperationQueue(backend: .stealing(workers: 2))
      let (early, cut, byHand) = (GatedOperation(), GatedOperation(), GatedOperation())
      queue.addOperation(early)
      let waiting = operation("waiting since before")
      waiting.addDependency(early)
      queue.addOperation(waiting)
      try early.started.wait("the early one to run")
      OperationTrace.start()
      early.release.open()
      try waiting.finishInTime()
      cut.name = "cut"
      queue.addOperation(cut)
      let never = operation("never shown as run")
      never.addDependency(cut)
      queue.addOperation(never)
      try cut.started.wait("the cut one to run")
      byHand.name = "by hand"
      let hasReturned = Gate()
      startThread {
        byHand.start()
        hasReturned.open()
      }
      try byHand.started.wait("the one by hand to run")
      let trace = OperationTrace.stop()
      try trace.write(to: file)
      cut.release.open()
      byHand.release.open()
      try queue.drainInTime()
      try hasReturned.wait("the one by hand to return")
      // What was cut has ended since, behind the recording.
      if OperationTrace.stop().json != trace.json { throw Wrong("a second stop gives something else") }
    }
  }

  /// Starts, stops and looks while four threads add and two workers run.
  private static func whileRunning() {
    attempt {
      let queues = [OperationQueue(backend: .stealing(workers: 2)), OperationQueue(backend: .threadPool(workers: 2))]
      let isOver = Monitor(false)
      let adders = Monitor(0)
      for index in 0..<4 {
        startThread {
          while !isOver.value {
            let (first, second) = (operation("first"), BlockOperation {})
            second.addDependency(first)
            queues[index % 2].addOperations([second, first], waitUntilFinished: false)
            queues[(index + 1) % 2].addOperation {}
            if index == 0 { second.waitUntilFinished() }
          }
          adders.with { $0 += 1 }
        }
      }
      var executed = 0
      for round in 0..<40 {
        OperationTrace.start(eventLimit: round % 4 == 0 ? 500 : 4_000)
        usleep(2_000)
        if round % 3 == 0 { try check(OperationTrace.snapshot(), "a snapshot") }
        // Every other round is ended by the next one's beginning.
        if round % 2 == 0 { executed += try check(OperationTrace.stop(), "a trace") }
      }
      if executed == 0 { throw Wrong("none of the traces shows an operation") }
      isOver.with { $0 = true }
      _ = adders.wait { $0 == 4 }
      for queue in queues { try queue.drainInTime() }
      try check(OperationTrace.stop(), "the last trace")
    }
  }

  /// - Returns: how many operations it shows.
  @discardableResult
  private static func check(_ trace: OperationTrace, _ what: String) throws -> Int {
    let checked = CheckedTrace(trace.json)
    let problems = checked.problems
    if let first = problems.first { throw Wrong("\(what) has \(problems.count) problems, such as: \(first)") }
    return checked.slices.reduce(0) { $0 + ($1.category == "operation" ? 1 : 0) }
  }

  /// A forked child that ends normally leaves the file to its parent.
  private static func fork() {
    guard let path = getenv("OPERATIONS_TRACE") else { exit(1) }
    // Nor does it write one where there is none: an earlier one would hide that.
    unlink(path)
    let queue = OperationQueue()
    queue.addOperations([operation("of the parent")], waitUntilFinished: true)
    // Swift does not let one call fork.
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    let child = fork()
    if child == 0 { exit(OperationTrace.isOn ? 1 : 0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    if status != 0 {
      print("tracing was on in the child")
      exit(1)
    }
    if access(path, F_OK) == 0 {
      print("the child wrote the file")
      exit(1)
    }
  }

  /// Goes elsewhere before it ends, from a folder in which it was begun with a relative name.
  private static func moves() {
    guard getenv("OPERATIONS_TRACE") != nil else {
      chdir(file)
      setenv("OPERATIONS_TRACE", "trace.json", 1)
      execv("/proc/self/exe", [strdup("ProcessScenarios"), strdup("trace-moves"), nil])
      exit(1)
    }
    mkdir("elsewhere", 0o755)
    chdir("elsewhere")
    OperationQueue().addOperations([operation("moved")], waitUntilFinished: true)
  }

  private struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
