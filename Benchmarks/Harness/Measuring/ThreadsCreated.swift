import CMeasure
import Synchronization

/// How many threads the process has created for its subject.
///
/// Every call of `pthread_create` is counted, from whatever library it comes, by a function of the program's own that
/// stands before the C library's (see CMeasure.c): threads that came and went between two looks at `/proc/self/task`
/// are not missed, and no privilege is needed. Threads that a benchmark makes for itself are taken out again.
package enum ThreadsCreated {
  private static let ofBenchmarks = Atomic<Int>(0)

  /// Nil under a sanitizer, which has a function of its own in that place.
  package static var count: Int? {
    let all = opbench_threads_created()
    return all < 0 ? nil : all - ofBenchmarks.load(ordering: .relaxed)
  }

  /// Told by a benchmark that has created threads for itself.
  package static func exclude(_ threads: Int) { ofBenchmarks.wrappingAdd(threads, ordering: .relaxed) }
}
