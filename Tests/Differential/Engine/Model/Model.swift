/// The sequential reference: takes the events of a program one by one, and says which were not allowed, what must still
/// happen, and what is to be seen when nothing more can happen.
///
/// Where the contract leaves a choice the model follows the choice that was made. So it needs no guess about timing: it
/// knows for everything the earliest and the latest moment of its effect, and objects only to what no order of those
/// moments explains.
struct Model {
  let program: Program
  let features: Features
  var operations: [ModelOperation]
  var queues: [ModelQueue]
  var openGates: Set<Int> = []
  var observations = Observations()
  /// By backend.
  var lastBodyEnd: [Int: Int] = [:]
  /// Number of events taken.
  var now = 0
  private(set) var violations: [Violation] = []

  /// Backends with one worker keep the order of priorities over all their queues.
  let isOrdered: Bool

  init(_ program: Program, features: Features, isOrdered: Bool) {
    self.program = program
    self.isOrdered = isOrdered
    self.features = features
    operations = program.operations.map(ModelOperation.init)
    queues = program.queues.map(ModelQueue.init)
    for case .observeReadyAndWait(let index, _) in program.statements { operations[index].isReadinessObserved = true }
  }

  /// Something that the contract does not allow.
  struct Violation: Equatable, Sendable {
    let category: String
    let text: String
  }

  mutating func object(_ category: String, _ text: String) {
    violations.append(Violation(category: category, text: "\(text) (event \(now))"))
  }

  // MARK: - Questions

  func members(of queue: Int) -> [Int] { operations.indices.filter { operations[$0].queue == queue } }

  func runningCount(in queue: Int) -> Int {
    operations.count { $0.queue == queue && $0.isRunning }
  }

  /// It is done, or may be finished as cancelled at any moment.
  func mayBeDone(_ index: Int) -> Bool {
    let operation = operations[index]
    if operation.isDone { return true }
    guard operation.cancelBegan != nil, operation.began == nil else { return false }
    if operation.byHand { return true }
    guard let queue = operation.queue else { return false }
    return !queues[queue].isSuspended || operation.mayBeClaimed || operation.maySkip
  }

  func isEarlier(_ first: Int, than second: Int) -> Bool {
    (operations[first].addEnded ?? .max) < operations[second].addBegan
  }

  /// Why it cannot start now; nil when it can.
  /// - Parameters:
  ///   - strictly: as one who says that it must start sees it; otherwise as one who says that it may have.
  ///   - ignoringTies: what was added at the same time is no obstacle, whichever of both was the earlier one.
  func obstacle(
    to index: Int, strictly: Bool, ignoringPlaces: Bool = false, ignoringTies: Bool = false
  ) -> String? {
    let operation = operations[index]
    func isDone(_ other: Int) -> Bool { strictly ? operations[other].isDone : mayBeDone(other) }
    if operation.byHand { return nil }
    guard let place = operation.queue else { return "it is in no queue" }
    let queue = queues[place]
    if queue.isSuspended { return "queue \(place) is suspended" }
    let waits = operation.cancelBegan == nil || !strictly
    if waits, let missing = operation.dependencies.first(where: { ($0.counts || strictly) && !isDone($0.operation) }) {
      return "it depends on \(missing.operation), which has not finished"
    }
    if waits, operation.kind == .conditional, !operation.conditionBegan { return "its isReady is false" }
    for other in members(of: place) where other != index && !isDone(other) {
      // Of two that are added at the same time, either may be the earlier one.
      let isBefore = strictly && !ignoringTies ? !isEarlier(index, than: other) : isEarlier(other, than: index)
      if operations[other].isBarrier, isBefore { return "the barrier \(other) was added before it" }
      if operation.isBarrier, isBefore { return "it is a barrier, and \(other) was added before it" }
    }
    if !ignoringPlaces, queue.limit != .max, runningCount(in: place) >= queue.limit {
      return "queue \(place) has a limit of \(queue.limit)"
    }
    return nil
  }

  // MARK: - Taking events

  mutating func take(_ event: Event) {
    now += 1
    switch event {
    case .bodyBegins, .bodyEnds, .startSkipped, .closureReleased, .waitBegins, .waitEnded, .waitLeft, .waited,
      .passBegins,
      .passEnded, .gateOpens, .joined, .graphRan,
      .finishBegins, .finishEnded, .helperAsked, .startBegins, .startEnded, .completed, .completionSet:
      takeLife(event)
    case .observing, .postBegins, .postEnded, .observed, .queueObserved, .observerWaitBegins, .observerWaitEnded:
      if case .observing(let index, .isReady) = event { operations[index].isReadinessObserved = true }
      takeObservation(event)
    case .settled(let isQuiet): if isQuiet { settle() }
    default: takeStatement(event)
    }
    refreshReadiness()
  }
}
