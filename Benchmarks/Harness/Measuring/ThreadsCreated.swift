import CMeasure
import Synchronization

/// How many threads the process has created for its subject.
///
/// Every call of `pthread_create` is counted, from any library, by a function of this program that is linked before the
/// C library's function (see CMeasure.c). So threads that start and end between two readings of `/proc/self/task` are
/// counted too, and no privilege is needed. Threads that a benchmark creates for itself are subtracted.
package enum ThreadsCreated {
  private static let ofBenchmarks = Atomic<Int>(0)

  /// Nil under a sanitizer, because the sanitizer has its own function in that place.
  package static var count: Int? {
    let all = opbench_threads_created()
    return all < 0 ? nil : all - ofBenchmarks.load(ordering: .relaxed)
  }

  /// A benchmark that has created threads for itself calls this function.
  package static func exclude(_ threads: Int) { ofBenchmarks.wrappingAdd(threads, ordering: .relaxed) }
}
