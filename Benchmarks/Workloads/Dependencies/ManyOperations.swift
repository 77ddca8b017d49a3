import Harness
import Subjects

/// Sizes beyond those that every subject gets: whether the cost of an operation stays the same. Only for subjects that are
/// known not to need hours for them.
enum ManyOperations {
  static let sizes = [10_000, 100_000, 1_000_000]
  private static let largestForAll = 1_000

  static func needs(_ parameters: Parameters, _ key: String, beside needs: Abilities) -> Abilities {
    (parameters.integer(key) ?? 0) > largestForAll ? needs.union(.millions) : needs
  }
}
