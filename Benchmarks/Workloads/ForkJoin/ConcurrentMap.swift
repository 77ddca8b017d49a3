import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// A new array from each element of another, in its order.
struct ConcurrentMap: Workload {
  let name = BenchmarkName("forkjoin", "map")
  let summary = "an array with a new element for each of a million"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread
  let needs = Abilities.collections

  func extendedParameterSets() -> [Parameters] { [["elements": "1000000"]] }

  /// `SeededGenerator.mix`, in this module: the compiler makes it a part of the loops, as the compilers of the peers
  /// do.
  @inline(__always)
  private static func mix(_ value: UInt64) -> UInt64 {
    let first = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    let second = (first ^ (first >> 27)) &* 0x94d0_49bb_1331_11eb
    return second ^ (second >> 31)
  }

  func peerInput(_ setting: Setting) throws -> PeerInput { .elements(setting) }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let elements = try setting.elements()
    return Trial.besideOneThread(
      operations: elements.count, prepare: {}, alone: { elements.map { Self.mix($0) } },
      together: { subject.map(elements) { Self.mix($0) } },
      verify: { mapped in
        guard mapped.count == elements.count,
          zip(mapped, elements).allSatisfy({ $0 == Self.mix($1) })
        else { throw CheckFailed("the elements are not those of a plain map") }
        try checkEmpty(subject.unfinished ?? 0)
      })
  }
}

extension Setting {
  /// The elements of a collection, which follow from the seed.
  func elements() throws -> [UInt64] {
    var generator = SeededGenerator(seed: seed)
    return (0..<(try integer("elements"))).map { _ in generator.next() }
  }
}

extension PeerInput {
  /// The program of a peer makes the elements from the seed.
  static func elements(_ setting: Setting) -> PeerInput { PeerInput(fields: [(key: "seed", value: "\(setting.seed)")]) }
}
