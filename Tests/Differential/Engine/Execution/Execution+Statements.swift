import Operations
import TestSupport

extension Execution {
  /// Leaves out what would be misuse, and waits that nothing would end.
  func perform(_ statement: Statement) {
    switch statement {
    case .add(let index, let queue):
      guard let place = state.queue(queue), state.take(index) else { return }
      state.add([index], to: place, number: queue)
    case .batch(let indices, let queue, let wait): addBatch(indices, queue: queue, wait: wait)
    case .barrier(let index, let queue):
      guard program.operations[index].kind == .closure, let place = state.queue(queue), state.take(index) else {
        return
      }
      journal.append(.addBegins([index], queue: queue, isBarrier: true))
      place.addBarrierBlock(state.closure(index))
      journal.append(.addEnded([index], queue: queue))
    case .depend(let index, let other):
      guard index != other, let operation = state.operation(index), let dependency = state.operation(other) else {
        return
      }
      journal.append(.dependBegins(index, on: other))
      operation.addDependency(dependency)
      journal.append(.dependEnded(index, on: other, seenStarted: isStarted(operation)))
    case .undepend(let index, let other):
      guard let operation = state.operation(index), let dependency = state.operation(other),
        operation.dependencies.contains(dependency)
      else { return }
      journal.append(.undependBegins(index, on: other))
      operation.removeDependency(dependency)
      journal.append(.undependEnded(index, on: other))
    case .cancel(let index): state.cancel(index)
    case .priority(let index, let level):
      guard let operation = state.operation(index) else { return }
      journal.append(.priorityBegins(index, level: level))
      operation.queuePriority = Operation.QueuePriority(level: level)
      journal.append(.priorityEnded(index))
    case .quality(let index, let level):
      guard let operation = state.operation(index) else { return }
      journal.append(.qualityBegins(index, level: level))
      operation.qualityOfService = Self.qualities[level]
      journal.append(.priorityEnded(index))
    case .completion(let index): setCompletion(of: index)
    case .observe(let index, let key): observe(index, key)
    case .observeReadyAndWait(let index, let other): observeReadyAndWait(index, on: other)
    case .open(let gate): state.open(gate % Program.gateCount)
    case .finish(let index): if state.takeFinish(index) { state.finish(index) }
    case .flip(let index): state.flip(index)
    case .start(let index): start(index)
    case .wait(let index): wait(for: index)
    case .settle: break
    default: performOnQueue(statement)
    }
  }

  private static let qualities: [QualityOfService] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  private func isStarted(_ operation: Operation) -> Bool { operation.isExecuting || operation.isFinished }

  private func started(in queue: Int) -> [Int] {
    program.operations.indices.filter { state.operation($0).map(isStarted) ?? false }
  }

  private func performOnQueue(_ statement: Statement) {
    guard let number = statement.queue, let queue = state.queue(number) else { return }
    switch statement {
    case .cancelAll:
      journal.append(.cancelAllBegins(queue: number))
      queue.cancelAllOperations()
      journal.append(.cancelAllEnded(queue: number, seenStarted: started(in: number)))
    case .queueQuality(_, let level):
      journal.append(.queueQualityBegins(queue: number))
      queue.qualityOfService = Self.qualities[level]
      journal.append(.queueQualityEnded(queue: number, level: level))
    case .limit(_, let limit):
      journal.append(.limitBegins(queue: number, limit))
      queue.maxConcurrentOperationCount = limit
      journal.append(.limitEnded(queue: number, limit, seenStarted: started(in: number)))
    case .suspend:
      journal.append(.suspendBegins(queue: number))
      queue.isSuspended = true
      journal.append(.suspendEnded(queue: number, seenStarted: started(in: number)))
    case .resume:
      journal.append(.resumeBegins(queue: number))
      queue.isSuspended = false
      journal.append(.resumeEnded(queue: number))
    case .observeQueue:
      guard observed.insert("queue \(number)").inserted else { return }
      tokens.append(
        queue.observe(\.operationCount, options: [.new]) { [journal] _, change in
          journal.append(.queueObserved(queue: number, count: change.newValue ?? -1))
        })
    case .waitQueue:
      // Also of what bodies will add.
      let certain = model.certainToFinish
      guard model.prospectiveMembers(of: number).allSatisfy(certain.contains) else { return }
      queue.waitUntilAllOperationsAreFinished()
    case .release:
      guard !model.queues[number].isSuspended, model.queues[number].limit == .max else { return }
      state.objects.with { $0.queues[number] = nil }
      journal.append(.released(queue: number))
    default: break
    }
  }

  private func addBatch(_ indices: [Int], queue number: Int, wait: Bool) {
    guard let queue = state.queue(number) else { return }
    var taken: [Int] = []
    for index in indices where state.operation(index) != nil && state.take(index) { taken.append(index) }
    guard !taken.isEmpty else { return }
    var shouldWait = wait
    if wait {
      var afterwards = model
      afterwards.take(.addBegins(taken, queue: number, isBarrier: false))
      shouldWait = afterwards.certainToFinish.isSuperset(of: taken)
    }
    journal.append(.addBegins(taken, queue: number, isBarrier: false))
    queue.addOperations(taken.compactMap(state.operation), waitUntilFinished: shouldWait)
    journal.append(.addEnded(taken, queue: number))
  }

  private func setCompletion(of index: Int) {
    guard let operation = state.operation(index), observed.insert("completion \(index)").inserted else { return }
    operation.completionBlock = { [state] in
      let (operation, queues) = state.objects.with { ($0.operations[index], $0.queues) }
      let inOrder =
        operation.map { operation in
          operation.isFinished && !queues.contains { $0?.operations.contains(operation) ?? false }
        } ?? true
      state.journal.append(.completed(index, inOrder: inOrder, current: state.current))
    }
    journal.append(.completionSet(index))
  }

  private func observe(_ index: Int, _ key: ObservedKey) {
    guard let operation = state.operation(index), observed.insert("\(key) \(index)").inserted else { return }
    let path: KeyPath<Operation, Bool>
    switch key {
    case .isCancelled: path = \.isCancelled
    case .isExecuting: path = \.isExecuting
    case .isFinished: path = \.isFinished
    case .isReady: path = \.isReady
    }
    tokens.append(
      operation.observe(path, options: [.new]) { [journal] _, change in
        journal.append(.observed(index, key, value: change.newValue ?? false))
      })
    journal.append(.observing(index, key))
  }

  /// The observer waits only for what has finished, or what nothing can hold back; it adds that, if nobody has.
  private func observeReadyAndWait(_ index: Int, on other: Int) {
    // A conditional operation's readiness is posted by this thread, which would wait for what it has yet to do.
    guard model.features.contains(.observerWaits), index != other, model.operations[index].kind != .conditional,
      let operation = state.operation(index),
      let target = state.operation(other), observed.insert("ready \(index)").inserted
    else { return }
    let freeQueue = program.isFree(other) ? program.freeQueue : nil
    tokens.append(
      operation.observe(\.isReady, options: [.new]) { [state] _, change in
        guard change.newValue == true else { return }
        if let freeQueue, let queue = state.queue(freeQueue), state.take(other) {
          state.add([other], to: queue, number: freeQueue)
        }
        guard target.isFinished || freeQueue != nil && state.isAdded(other) else { return }
        state.journal.append(.observerWaitBegins(index, on: other))
        target.waitUntilFinished()
        state.journal.append(.observerWaitEnded(index, on: other))
      })
  }

  private func start(_ index: Int) {
    // The start of a task returns before the task has ended.
    guard program.operations[index].kind != .task,
      let operation = state.operation(index), operation.isCancelled || operation.isReady,
      operation.isCancelled || model.returnsFromBody(index), state.take(index)
    else { return }
    journal.append(.startBegins(index))
    operation.start()
    journal.append(.startEnded(index))
  }

  private func wait(for index: Int) {
    guard let operation = state.operation(index), model.certainToFinish.contains(index) else { return }
    operation.waitUntilFinished()
    journal.append(.waited(index, isFinished: operation.isFinished))
  }
}
