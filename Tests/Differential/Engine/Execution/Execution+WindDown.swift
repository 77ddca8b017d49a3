import Operations
import TestSupport

extension Execution {
  /// Lets everything end that can; cancels what nothing would ever start; then looks at the whole.
  func windDown() throws {
    let seen = WeakObjects(state)
    for gate in 0..<Program.gateCount { state.open(gate) }
    for index in program.operations.indices { state.flip(index) }
    for queue in program.queues.indices {
      perform(.resume(queue: queue))
      perform(.limit(queue: queue, -1))
    }
    while true {
      try settle()
      let open = program.operations.indices.filter { state.takeFinish($0) }
      if !open.isEmpty {
        for index in open { state.finish(index) }
        continue
      }
      guard endStuckOperations() else { break }
    }
    model.compareObservations()
    try drain()
    for index in program.operations.indices where model.operations[index].queue != nil {
      if !model.operations[index].isDone { throw ProgramFailure(category: "hang", text: "\(index) never finished") }
    }
    try release(seen)
  }

  /// Cancels what waits for what will never finish, and runs by hand what is in no queue.
  /// - Returns: whether there was any.
  private func endStuckOperations() -> Bool {
    var hasChanged = false
    for (index, operation) in model.operations.enumerated() {
      guard operation.began == nil, !operation.isDone, !operation.byHand, let object = state.operation(index) else {
        continue
      }
      if !object.isCancelled {
        state.cancel(index)
        hasChanged = true
      }
      if operation.queue == nil, state.take(index) {
        journal.append(.startBegins(index))
        object.start()
        journal.append(.startEnded(index))
        hasChanged = true
      }
    }
    return hasChanged
  }

  /// Operations and queues go when nobody holds them.
  private func release(_ seen: WeakObjects) throws {
    giveUpObjects()
    state.schedule?.run()
    do {
      try eventually("objects to be released", seconds: patience) { seen.alive.isEmpty }
    } catch { throw ProgramFailure(category: "leak", text: "never released: \(seen.alive.joined(separator: ", "))") }
  }
}

extension Execution {
  /// A function of its own: its variables hold objects until it returns.
  private func giveUpObjects() {
    for token in tokens { token.invalidate() }
    tokens = []
    let old = state.objects.with { objects in
      let old = objects
      // Those that nobody ever put into a queue hold their blocks, which hold this state: cut here.
      objects.operations = objects.operations.map { _ in nil }
      objects.queues = objects.queues.map { _ in nil }
      objects.isOver = true
      return old
    }
    // A dependency that was added after the finish stays listed.
    for case let operation? in old.operations {
      for dependency in operation.dependencies { operation.removeDependency(dependency) }
    }
  }
}

/// Weak references to all objects of a program.
private final class WeakObjects {
  private struct Reference {
    weak var object: AnyObject?
    let name: String
  }
  private let references: [Reference]

  init(_ state: ExecutionState) {
    let objects = state.objects.value
    references =
      objects.operations.enumerated().map { Reference(object: $0.element, name: "operation \($0.offset)") }
      + objects.queues.enumerated().map { Reference(object: $0.element, name: "queue \($0.offset)") }
  }

  var alive: [String] { references.compactMap { $0.object == nil ? nil : $0.name } }
}
