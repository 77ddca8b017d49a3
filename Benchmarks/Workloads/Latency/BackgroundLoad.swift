import Dispatch
import HarnessMeasuring
import Subjects
import Synchronization

/// Operations that add themselves again until they are told to stop.
final class BackgroundLoad<S: ClosureSubject>: Sendable {
  private let subject: S
  private let chains: Int
  private let rounds: Int
  private let isStopping = Atomic<Bool>(false)
  private let links = Atomic<Int>(0)
  private let ended = DispatchSemaphore(value: 0)

  init(_ subject: S, chains: Int, rounds: Int) {
    (self.subject, self.chains, self.rounds) = (subject, chains, rounds)
  }

  func start() {
    for _ in 0..<chains { subject.submit { self.step() } }
  }

  /// Returns when the last of the operations has run; gives the number of operations that ran.
  func stop() -> Int {
    isStopping.store(true, ordering: .relaxed)
    for _ in 0..<chains { ended.wait() }
    return links.load(ordering: .relaxed)
  }

  private func step() {
    Spin.run(rounds: rounds)
    links.wrappingAdd(1, ordering: .relaxed)
    if isStopping.load(ordering: .relaxed) { ended.signal() } else { subject.submit { self.step() } }
  }
}
