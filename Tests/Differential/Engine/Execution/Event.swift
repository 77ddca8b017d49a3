import TestSupport

/// What happened, in one order for all threads. What takes time has two events: before the first it has had no effect,
/// after the second it has had all of it.
enum Event: Sendable, Equatable {
  case addBegins([Int], queue: Int, isBarrier: Bool)
  case addEnded([Int], queue: Int)
  case dependBegins(Int, on: Int)
  /// - Parameter seenStarted: the operation had started when the call returned.
  case dependEnded(Int, on: Int, seenStarted: Bool)
  case undependBegins(Int, on: Int)
  case undependEnded(Int, on: Int)
  case cancelBegins(Int)
  case cancelEnded(Int, seenStarted: Bool)
  case cancelAllBegins(queue: Int)
  case cancelAllEnded(queue: Int, seenStarted: [Int])
  case priorityBegins(Int, level: Int)
  case qualityBegins(Int, level: Int)
  case priorityEnded(Int)
  case queueQualityBegins(queue: Int)
  case queueQualityEnded(queue: Int, level: Int)
  case limitBegins(queue: Int, Int)
  case limitEnded(queue: Int, Int, seenStarted: [Int])
  case suspendBegins(queue: Int)
  case suspendEnded(queue: Int, seenStarted: [Int])
  case resumeBegins(queue: Int)
  case resumeEnded(queue: Int)
  case released(queue: Int)
  case completionSet(Int)
  case observing(Int, ObservedKey)
  case startBegins(Int)
  case startEnded(Int)
  /// - Parameter current: the number of `OperationQueue.current`, -1 for none.
  /// `inside`: the operation whose body waits on this thread meanwhile.
  case bodyBegins(Int, block: Int, current: Int, inside: Int? = nil)
  case bodyEnds(Int, block: Int, inside: Int? = nil)
  /// The closure was released: after its run, or without one.
  case closureReleased(Int)
  /// A hand-written `start()` found its operation cancelled.
  case startSkipped(Int)
  case waitBegins(Int, on: Int)
  case waitEnded(Int, on: Int)
  /// A task's wait ended because the task was cancelled.
  case waitLeft(Int, on: Int)
  /// The controlling thread has waited.
  case waited(Int, isFinished: Bool)
  case passBegins(Int, gate: Int)
  case passEnded(Int, gate: Int)
  case gateOpens(Int)
  /// - Parameters:
  ///   - currents: the current queues at the leaves of the tree, each once.
  ///   - around: the name that was current where the tree begins.
  ///   - sights: the names that the tree's bodies saw, each once.
  case joined(Int, seed: Int, TreeResult, currents: Set<Int>, around: UInt64, sights: Set<ForkTree.Sight>)
  case graphRan(Int, seed: Int, ProgramGraph.Outcome)
  case finishBegins(Int)
  case finishEnded(Int)
  case helperAsked(Int)
  case flipBegins(Int)
  case flipEnded(Int)
  case postBegins(Int, ObservedKey, value: Bool)
  case postEnded(Int, ObservedKey, value: Bool)
  /// - Parameter inOrder: the operation had finished and its queue did not list it.
  case completed(Int, inOrder: Bool, current: Int)
  case observed(Int, ObservedKey, value: Bool)
  case queueObserved(queue: Int, count: Int)
  case observerWaitBegins(Int, on: Int)
  case observerWaitEnded(Int, on: Int)
  /// The state was compared; nothing is in flight.
  case settled(isQuiet: Bool)
}
