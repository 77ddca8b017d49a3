extension Statement {
  var text: String {
    switch self {
    case .add(let operation, let queue): "add \(operation) \(queue)"
    case .batch(let operations, let queue, let wait):
      (["batch", "\(queue)", wait ? "wait" : "go"] + operations.map(String.init)).joined(separator: " ")
    case .barrier(let operation, let queue): "barrier \(operation) \(queue)"
    case .depend(let operation, let other): "depend \(operation) \(other)"
    case .undepend(let operation, let other): "undepend \(operation) \(other)"
    case .cancel(let operation): "cancel \(operation)"
    case .cancelAll(let queue): "cancel-all \(queue)"
    case .priority(let operation, let level): "priority \(operation) \(level)"
    case .quality(let operation, let level): "quality \(operation) \(level)"
    case .queueQuality(let queue, let level): "queue-quality \(queue) \(level)"
    case .limit(let queue, let limit): "limit \(queue) \(limit)"
    case .suspend(let queue): "suspend \(queue)"
    case .resume(let queue): "resume \(queue)"
    case .completion(let operation): "completion \(operation)"
    case .observe(let operation, let key): "observe \(operation) \(key.rawValue)"
    case .observeQueue(let queue): "observe-queue \(queue)"
    case .observeReadyAndWait(let operation, let other): "observe-ready-and-wait \(operation) \(other)"
    case .open(let gate): "open \(gate)"
    case .finish(let operation): "finish \(operation)"
    case .flip(let operation): "flip \(operation)"
    case .start(let operation): "start \(operation)"
    case .wait(let operation): "wait \(operation)"
    case .waitQueue(let queue): "wait-queue \(queue)"
    case .settle: "settle"
    case .release(let queue): "release \(queue)"
    }
  }

  init?(words: [String]) {
    let numbers = words.dropFirst().compactMap(Int.init)
    switch (words[0], numbers.count) {
    case ("settle", 0): self = .settle
    case ("batch", 1...) where words.count > 2:
      self = .batch(Array(numbers.dropFirst()), queue: numbers[0], wait: words[2] == "wait")
    case ("observe", 1):
      guard let key = words.last.flatMap(ObservedKey.init(rawValue:)) else { return nil }
      self = .observe(numbers[0], key)
    case (_, 1): self.init(word: words[0], numbers[0])
    case (_, 2): self.init(word: words[0], numbers[0], numbers[1])
    default: return nil
    }
  }

  private init?(word: String, _ number: Int) {
    switch word {
    case "cancel": self = .cancel(number)
    case "cancel-all": self = .cancelAll(queue: number)
    case "suspend": self = .suspend(queue: number)
    case "resume": self = .resume(queue: number)
    case "completion": self = .completion(number)
    case "observe-queue": self = .observeQueue(queue: number)
    case "open": self = .open(gate: number)
    case "finish": self = .finish(number)
    case "flip": self = .flip(number)
    case "start": self = .start(number)
    case "wait": self = .wait(number)
    case "wait-queue": self = .waitQueue(queue: number)
    case "release": self = .release(queue: number)
    default: return nil
    }
  }

  private init?(word: String, _ first: Int, _ second: Int) {
    switch word {
    case "add": self = .add(first, queue: second)
    case "barrier": self = .barrier(first, queue: second)
    case "depend": self = .depend(first, on: second)
    case "undepend": self = .undepend(first, on: second)
    case "priority" where (0...4).contains(second): self = .priority(first, level: second)
    case "quality" where (0...4).contains(second): self = .quality(first, level: second)
    case "queue-quality" where (0...4).contains(second): self = .queueQuality(queue: first, level: second)
    case "limit" where second >= -1: self = .limit(queue: first, second)
    case "observe-ready-and-wait": self = .observeReadyAndWait(first, on: second)
    default: return nil
    }
  }

  /// The operations it names.
  var operations: [Int] {
    switch self {
    case .add(let operation, _), .barrier(let operation, _), .cancel(let operation), .priority(let operation, _),
      .quality(let operation, _), .completion(let operation), .observe(let operation, _), .finish(let operation),
      .flip(let operation), .start(let operation), .wait(let operation):
      [operation]
    case .depend(let operation, let other), .undepend(let operation, let other),
      .observeReadyAndWait(let operation, let other):
      [operation, other]
    case .batch(let operations, _, _): operations
    case .cancelAll, .queueQuality, .limit, .suspend, .resume, .observeQueue, .open, .waitQueue, .settle, .release: []
    }
  }

  /// The queue it names.
  var queue: Int? {
    switch self {
    case .add(_, let queue), .batch(_, let queue, _), .barrier(_, let queue), .cancelAll(let queue),
      .queueQuality(let queue, _), .limit(let queue, _), .suspend(let queue), .resume(let queue),
      .observeQueue(let queue), .waitQueue(let queue), .release(let queue):
      queue
    default: nil
    }
  }
}
