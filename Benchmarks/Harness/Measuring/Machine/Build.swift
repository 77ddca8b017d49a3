/// How this program was built.
package enum Build {
  /// Whether the compiler optimised the code. Times of a debug build mean nothing.
  package static var isOptimised: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  /// `release` or `debug`.
  package static var kind: String { isOptimised ? "release" : "debug" }
}
