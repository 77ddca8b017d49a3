extension Program {
  /// Only these operations and queues, numbered anew. What is left out must not be named.
  func keeping(operations kept: [Int], queues places: [Int]) -> Program {
    let number = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($0.element, $0.offset) })
    let place = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($0.element, $0.offset) })
    var program = self
    program.operations = kept.map { old in
      var spec = operations[old]
      spec.actions = spec.actions.map { $0.renumbered({ number[$0] ?? 0 }, { place[$0] ?? 0 }) }
      return spec
    }
    program.queues = places.map { queues[$0] }
    program.statements = statements.map { $0.renumbered({ number[$0] ?? 0 }, { place[$0] ?? 0 }) }
    return program
  }
}

extension BodyAction {
  fileprivate func renumbered(_ number: (Int) -> Int, _ place: (Int) -> Int) -> BodyAction {
    switch self {
    case .wait(let other): .wait(number(other))
    case .add(let other, let queue): .add(number(other), queue: place(queue))
    case .cancel(let other): .cancel(number(other))
    case .finish(let other): .finish(number(other))
    case .flip(let other): .flip(number(other))
    case .pass, .open, .join, .graph, .raise, .finishByHelper: self
    }
  }
}

extension Statement {
  fileprivate func renumbered(_ number: (Int) -> Int, _ place: (Int) -> Int) -> Statement {
    switch self {
    case .add(let operation, let queue): .add(number(operation), queue: place(queue))
    case .batch(let operations, let queue, let wait): .batch(operations.map(number), queue: place(queue), wait: wait)
    case .barrier(let operation, let queue): .barrier(number(operation), queue: place(queue))
    case .depend(let operation, let other): .depend(number(operation), on: number(other))
    case .undepend(let operation, let other): .undepend(number(operation), on: number(other))
    case .cancel(let operation): .cancel(number(operation))
    case .cancelAll(let queue): .cancelAll(queue: place(queue))
    case .priority(let operation, let level): .priority(number(operation), level: level)
    case .quality(let operation, let level): .quality(number(operation), level: level)
    case .queueQuality(let queue, let level): .queueQuality(queue: place(queue), level: level)
    case .limit(let queue, let limit): .limit(queue: place(queue), limit)
    case .suspend(let queue): .suspend(queue: place(queue))
    case .resume(let queue): .resume(queue: place(queue))
    case .completion(let operation): .completion(number(operation))
    case .observe(let operation, let key): .observe(number(operation), key)
    case .observeQueue(let queue): .observeQueue(queue: place(queue))
    case .observeReadyAndWait(let operation, let other): .observeReadyAndWait(number(operation), on: number(other))
    case .finish(let operation): .finish(number(operation))
    case .flip(let operation): .flip(number(operation))
    case .start(let operation): .start(number(operation))
    case .wait(let operation): .wait(number(operation))
    case .waitQueue(let queue): .waitQueue(queue: place(queue))
    case .release(let queue): .release(queue: place(queue))
    case .open, .settle: self
    }
  }
}
