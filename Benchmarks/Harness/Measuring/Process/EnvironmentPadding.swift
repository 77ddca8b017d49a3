import HarnessStatistics

/// Pads the environment at random. The environment is at the bottom of the stack, so the padding moves the stack.
/// Without padding, the alignment of the stack would be the same accident in every process.
package enum EnvironmentPadding {
  package static func variables(process: Int, seed: UInt64) -> [String: String] {
    var random = SeededGenerator(seed: seed &+ UInt64(process), purpose: "environment-padding")
    return ["OPBENCH_PADDING": String(repeating: "x", count: Int.random(in: 0..<4_096, using: &random))]
  }
}
