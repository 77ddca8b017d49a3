import ArgumentParser
import HarnessMeasuring

/// Where measuring processes run: an option that `run` and `validate` share.
package struct PlaceOptions: ParsableArguments {
  @Flag(
    help:
      "Run everything on one CPU: narrower intervals, for what work costs. How work spreads does not show.")
  package var oneCPU = false

  package init() {}

  /// Binds this process and what it starts, before anything counts the CPUs. The pools then have one worker unless the
  /// user says otherwise.
  func bind() throws {
    if oneCPU { try CPUs.stay(onLast: 1) }
  }
}
