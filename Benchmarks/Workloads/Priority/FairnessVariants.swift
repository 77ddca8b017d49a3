import HarnessWords
import Subjects

/// The parameters that vary fairness, the trade between order and waiting, in the benchmarks of both. The parameters
/// are for subjects whose fairness is a number.
enum FairnessVariants {
  private static let key = "fairness_interval"
  private static let intervals = [0, 16, 61, 256]

  static func of(_ sets: [Parameters]) -> [Parameters] {
    sets.flatMap { set in intervals.map { interval in set.merging([key: "\(interval)"]) } }
  }

  static func needs(_ parameters: Parameters, beside needs: Abilities) -> Abilities {
    parameters.integer(key) == nil ? needs : needs.union(.fairness)
  }

  /// A subject with the fairness in the parameters, or with its own when the parameters name none.
  static func subject<S: OperationSubject>(_ setting: Setting) throws -> S {
    guard setting.parameters.integer(key) != nil else { return S(workers: setting.workers) }
    return S(workers: setting.workers, fairnessInterval: try setting.integer(key))
  }
}
