/// The environment lies at the bottom of the stack: padding it at random moves the stack about, whose alignment would
/// otherwise be the same accident in every process.
enum EnvironmentPadding {
  static func variables(process: Int, seed: UInt64) -> [String: String] {
    var random = SeededGenerator(seed: seed &+ UInt64(process), purpose: "environment-padding")
    return ["OPBENCH_PADDING": String(repeating: "x", count: Int.random(in: 0..<4_096, using: &random))]
  }
}
