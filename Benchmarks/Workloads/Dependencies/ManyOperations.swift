import HarnessWords
import Subjects

/// Larger sizes than every subject gets, to see whether the cost per operation stays the same. Only subjects that do
/// not need hours for these sizes get them.
enum ManyOperations {
  static let sizes = [10_000, 100_000, 1_000_000]
  private static let largestForAll = 1_000

  static func needs(_ parameters: Parameters, _ key: String, beside needs: Abilities) -> Abilities {
    (parameters.integer(key) ?? 0) > largestForAll ? needs.union(.millions) : needs
  }
}
