import HarnessMeasuring

/// The text of `--version`.
enum Version {
  /// The only place of the version number. Behind `-dev` it is the number of the next version: CONTRIBUTING.md says how
  /// one is cut.
  static let number = "0.1.0-dev"

  static var text: String {
    "opbench \(number), a \(Build.kind) build by \(compiler)"
  }

  /// The compiler, as far as a program can know it.
  private static var compiler: String {
    #if compiler(>=6.5)
      "Swift 6.5 or later"
    #elseif compiler(>=6.4)
      "Swift 6.4"
    #else
      "Swift 6.3"
    #endif
  }
}
