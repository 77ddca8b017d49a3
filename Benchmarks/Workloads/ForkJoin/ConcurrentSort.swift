import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// Sorts numbers in no order, with a sort that keeps the order of equal elements. `kind` says so in the name of the
/// row, which has to stay: published results have it.
struct ConcurrentSort: Workload {
  let name = BenchmarkName("forkjoin", "sort")
  let summary = "sorts a million numbers in no order"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread
  let needs = Abilities.collections
  let repeats = RepeatPolicy.calibrated(seconds: 0.06)

  func extendedParameterSets() -> [Parameters] { [["elements": "1000000", "kind": "stable"]] }

  func peerInput(_ setting: Setting) throws -> PeerInput { .elements(setting) }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let elements = try setting.elements()
    let sum = Self.sum(elements)
    return Trial.besideOneThread(
      operations: elements.count, prepare: { Numbers(elements) },
      alone: { numbers in
        numbers.elements.sort()
        return numbers.elements
      },
      together: { numbers in
        subject.sort(&numbers.elements)
        return numbers.elements
      },
      verify: { sorted in
        guard sorted.count == elements.count, Self.sum(sorted) == sum,
          zip(sorted, sorted.dropFirst()).allSatisfy({ $0 <= $1 })
        else { throw CheckFailed("the elements are not sorted") }
        try checkEmpty(subject.unfinished ?? 0)
      })
  }

  /// Tells whether two arrays have the same elements, whatever their order.
  private static func sum(_ elements: [UInt64]) -> UInt64 {
    elements.reduce(0) { $0 &+ SeededGenerator.mix($1) }
  }
}

/// An array with one owner, so that sorting does not copy the array.
private final class Numbers {
  var elements: [UInt64]

  /// Copies the elements, before a sort is timed.
  init(_ elements: [UInt64]) { self.elements = elements.withUnsafeBufferPointer { Array($0) } }
}
