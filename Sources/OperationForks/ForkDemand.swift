import CPlatform
import OperationJobs

/// Whether others want a fork of the calling thread.
@usableFromInline
package enum ForkDemand {
  /// Whether the scope that the thread is in is on a backend that decides which of its threads goes on.
  package static var isDriven: Bool {
    guard DrivenBackends.exist, let list = cplatform_forks_here() else { return false }
    return ForkList.of(list).task.driven != nil
  }

  /// Whether other threads may take forks of the scope that the thread is in.
  package static var hasHelpers: Bool { cplatform_forks_here().map { ForkList.of($0).task.workerCount > 1 } ?? false }

  /// One relaxed load, unless the list wants a look at the clock now and then.
  /// - Parameter mayLook: whether it is time for such a look. Nil for one after some calls, as behind some forks.
  @inlinable @inline(__always)
  package static func isHere(mayLook: Bool? = nil) -> Bool {
    guard let list = cplatform_forks_here(), list.pointee.launch == cplatform_frame() else { return false }
    let wanted = cplatform_state_load_relaxed(&list.pointee.wanted)
    if wanted == cplatform_forks_enough.rawValue { return false }
    return wanted == cplatform_forks_more.rawValue || (mayLook ?? cplatform_forks_count_down(list)) && look(list)
  }

  @usableFromInline @inline(never)
  static func look(_ list: UnsafeMutablePointer<cplatform_forks>) -> Bool {
    ForkList.of(list).show()
    return cplatform_state_load_relaxed(&list.pointee.wanted) == cplatform_forks_more.rawValue
  }
}
