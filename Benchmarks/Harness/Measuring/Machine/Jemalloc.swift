import Glibc

/// Finds where jemalloc is installed. Nothing links jemalloc: timed processes keep the system's allocator, and only the
/// counting process is started with the library preloaded.
package enum Jemalloc {
  package static let advice =
    "allocations are not counted; to have them: apt-get install libjemalloc-dev pkg-config"

  /// The shared library, found through pkg-config; nil when there is none.
  package static func library() -> String? {
    let query = ProcessRunner.run("pkg-config", ["--variable=libdir", "jemalloc"], timeout: 10)
    guard query.ending == .exited(0), let folder = query.lines.first, !folder.isEmpty else { return nil }
    return ["libjemalloc.so.2", "libjemalloc.so"].map { "\(folder)/\($0)" }.first { access($0, R_OK) == 0 }
  }

  /// The environment of a timed process that is to run on jemalloc, with jemalloc's default configuration.
  package static func timingEnvironment(library: String) -> [String: String] { ["LD_PRELOAD": library] }

  /// The environment of the counting process.
  package static func environment(library: String) -> [String: String] {
    ["LD_PRELOAD": library, "MALLOC_CONF": AllocationCounter.configuration]
  }
}
