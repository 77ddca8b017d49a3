/// A subject at a worker count: a column of the comparison.
package struct Arm: Hashable, Sendable, Codable, CustomStringConvertible {
  package let subject: String
  /// The number of workers asked for. A subject whose width cannot be set has the number that the system gives it.
  package let workers: Int

  package init(subject: String, workers: Int) {
    self.subject = subject
    self.workers = workers
  }

  package var description: String { "\(subject)@\(workers)" }

  /// The arm of the reference that `arm` is compared with. An arm with as many workers comes first, else the widest
  /// arm.
  package static func reference(_ name: String, for arm: Arm, among arms: some Sequence<Arm>) -> Arm? {
    let candidates = arms.filter { $0.subject == name || $0.description == name }
    return candidates.first { $0.workers == arm.workers } ?? candidates.max { $0.workers < $1.workers }
  }
}
