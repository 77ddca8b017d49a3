/// What observers were told.
struct Observations {
  struct Place: Hashable {
    let operation: Int
    let key: ObservedKey
  }

  /// Observed from before anything can have happened to the operation: the sequence is known exactly.
  var complete: Set<Place> = []
  var values: [Place: [Bool]] = [:]
  /// Posts that have begun and not returned, with what observers were told meanwhile.
  var openPosts: [Place: [Bool]] = [:]
  /// Observers that wait: the operation that each waits for.
  var waiting: [Int] = []

  func pendingMoves(of model: Model) -> [String] {
    let missing = complete.sorted { ($0.operation, $0.key.rawValue) < ($1.operation, $1.key.rawValue) }.filter {
      values[$0, default: []].count < model.leastTold(of: $0)
    }
    return missing.map { "an observer of \($0.key.rawValue) of \($0.operation) must be told" }
      + waiting.filter { model.operations[$0].isDone }.map { "an observer, which waits for \($0), must go on" }
  }
}

extension Model {
  mutating func takeObservation(_ event: Event) {
    switch event {
    case .observing(let index, let key):
      let operation = operations[index]
      let isFresh = operation.queue == nil && !operation.byHand && operation.cancelBegan == nil
      if isFresh { observations.complete.insert(.init(operation: index, key: key)) }
    case .postBegins(let index, let key, _): observations.openPosts[.init(operation: index, key: key)] = []
    case .postEnded(let index, let key, let value):
      let place = Observations.Place(operation: index, key: key)
      let told = observations.openPosts.removeValue(forKey: place) ?? []
      if features.contains(.postedObservers), observations.complete.contains(place), told != [value] {
        object("posted", "\(index) posted \(key.rawValue) = \(value), and inside of that observers were told \(told)")
      }
    case .observed(let index, let key, let value):
      let place = Observations.Place(operation: index, key: key)
      observations.values[place, default: []].append(value)
      if observations.openPosts[place] != nil {
        observations.openPosts[place]?.append(value)
      } else if operations[index].kind == .handWritten, key == .isExecuting || key == .isFinished,
        features.contains(.postedObservers)
      {
        object("posted", "observers of \(index) were told \(key.rawValue) = \(value) outside of any post")
      }
      if key == .isFinished, !mayBeDone(index) { object("observers", "\(index) was said to have finished too early") }
    case .queueObserved(let queue, let count):
      let added = members(of: queue).count
      if count < 0 || count > added { object("observers", "queue \(queue) told \(count) operations of \(added) added") }
    case .observerWaitBegins(_, let other): observations.waiting.append(other)
    case .observerWaitEnded(_, let other):
      if let position = observations.waiting.firstIndex(of: other) { observations.waiting.remove(at: position) }
      if !mayBeDone(other) { object("wait", "an observer's wait for \(other) returned before the finish") }
    default: break
    }
  }

  /// How often observers that were there from the beginning have been told by the time nothing more happens.
  func leastTold(of place: Observations.Place) -> Int {
    let operation = operations[place.operation]
    let isPosted = operation.kind == .handWritten
    switch place.key {
    case .isFinished: return operation.isDone ? 1 : 0
    case .isExecuting:
      if isPosted, !features.contains(.postedObservers) { return 0 }
      return operation.began == nil ? 0 : operation.isDone ? 2 : 1
    case .isCancelled: return operation.cancelIsSure && !operation.cancelIsUnsure ? 1 : 0
    case .isReady: return 0
    }
  }

  /// When the program is over: the whole sequences.
  mutating func compareObservations() {
    for place in observations.complete {
      let operation = operations[place.operation]
      let told = observations.values[place, default: []]
      let expected: [Bool]
      switch place.key {
      case .isFinished: expected = operation.isDone ? [true] : []
      case .isExecuting: expected = operation.began == nil ? [] : [true, false]
      case .isCancelled: expected = operation.cancelBegan == nil ? [] : [true]
      case .isReady: continue
      }
      if place.key == .isCancelled, operation.cancelIsUnsure { continue }
      if operation.kind == .handWritten, place.key != .isCancelled, !features.contains(.postedObservers) { continue }
      // Cancelled between its claim and its body, it was executing for an instant and skipped the body.
      let isSkippedLate =
        place.key == .isExecuting && operation.began == nil && operation.cancelBegan != nil && told == [true, false]
      if told != expected, !isSkippedLate {
        object(
          "observers", "observers of \(place.key.rawValue) of \(place.operation) were told \(told), not \(expected)")
      }
    }
  }
}
