/// A subject at a worker count: a column of the comparison.
package struct Arm: Hashable, Sendable, CustomStringConvertible {
  package let subject: String
  /// The number asked for, or for a subject whose width cannot be set the number the system gives it.
  package let workers: Int

  package init(subject: String, workers: Int) {
    self.subject = subject
    self.workers = workers
  }

  package var description: String { "\(subject)@\(workers)" }

  /// The arm of the reference that another is compared with: the one with as many workers, or else the widest.
  package static func reference(_ name: String, for arm: Arm, among arms: some Sequence<Arm>) -> Arm? {
    let candidates = arms.filter { $0.subject == name || $0.description == name }
    return candidates.first { $0.workers == arm.workers } ?? candidates.max { $0.workers < $1.workers }
  }
}
