import ArgumentParser
import Harness

/// Where measuring processes run: an option that `run` and `validate` share.
package struct PlaceOptions: ParsableArguments {
  @Flag(
    help:
      "Run everything on one CPU: intervals are half as wide. It shows what work costs, and nothing of how work spreads.")
  package var oneCPU = false

  package init() {}

  /// Binds this process and what it starts, before anything counts the CPUs. The pools then have one worker unless the
  /// user says otherwise.
  func bind() throws {
    if oneCPU { try CPUs.stayOnOne() }
  }
}
