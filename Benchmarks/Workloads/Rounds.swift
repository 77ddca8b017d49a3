import HarnessMeasuring
import Subjects

extension Trial {
  /// The trial of a benchmark of costs. A round hands work to the subject, waits until all of the work has run, and
  /// checks that every operation ran once and that nothing is left. Timed: `add` and the wait.
  ///
  /// - Parameters:
  ///   - operations: the number of operations in one round, including operations without a flag.
  ///   - edges: the number of dependencies in one round.
  ///   - add: hands the work over, and waits for any work that `drain` does not wait for.
  ///   - verify: checks what else must hold after a round.
  static func rounds<S: ClosureSubject>(
    of operations: Int, _ flags: RunFlags, on subject: S, edges: Int = 0, add: @escaping () -> Void,
    verify: @escaping () throws -> Void = {}
  ) -> Trial {
    Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        add()
        subject.drain()
        elapsed.add(since: start)
        try flags.check()
        try checkEmpty(subject.unfinished ?? 0)
        try verify()
      }
      return Value(elapsed.readings(operations: operations * repeats, edges: edges * repeats))
    }
  }
}

extension Elapsed {
  func readings(operations: Int, edges: Int) -> [Reading] {
    let perOperation = readings(operations: operations)
    return edges > 0
      ? perOperation + [Reading(.nsPerEdge, Double(wall) / Double(edges), count: edges)] : perOperation
  }
}
