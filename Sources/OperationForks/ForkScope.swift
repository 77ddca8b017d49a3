import CPlatform
import OperationJobs
import Primitives

/// An outermost join on a thread, from its beginning to its end: the thread has a list of forks meanwhile. Joins inside
/// of the scope find the list, unless they are in another operation that runs on top, or on another backend.
///
/// The value is empty, since code of users is compiled with its layout: the list of the thread has what the scope
/// found.
@frozen @usableFromInline
package struct ForkScope {
  /// Begins a scope.
  /// - Parameters:
  ///   - backend: whose threads help; nil for the backend of the present operation, or else the default one.
  ///   - level: of the forks; nil for that of the present operation.
  /// - Returns: nil when the thread cannot have forks now: its list is full, or there is no memory for one.
  @usableFromInline
  package init?(on backend: (any Backend)? = nil, level: Int? = nil) {
    let launch = LaunchFrame.current
    if let here = cplatform_forks_here(), here.pointee.launch == UnsafeMutableRawPointer(launch) {
      // A join of this launch found no place in the list, or `run` names a backend.
      guard let backend, here.pointee.next < here.pointee.end else { return nil }
      let list = ForkList.of(here)
      if list.task.home?._withUnsafeGuaranteedRef({ $0.isOf(backend) }) == true {
        list.beginInside()
        return
      }
    }
    var task = ForkList.Task(level: level ?? Job.middleLevel)
    if let backend {
      if let home = (backend as? any SupervisedBackend)?.home {
        task.home = .passUnretained(home)
      } else {
        task.home = .passRetained(BackendHome(backend))
        task.ownsHome = true
      }
    } else {
      task.home = Self.home(of: launch)
    }
    // Before any lock of the lists: in a forked child another thread of the parent may have held that lock.
    task.isGuest = task.home?._withUnsafeGuaranteedRef { $0.host?.beginForks() } ?? false
    if cplatform_has_task() { task.maker = .passRetained(ForkMaker(home: task.home)) }
    guard let list = ForkList.take() else {
      task.end()
      return nil
    }
    // From here on nobody sees the private forks of the scope around this one: the other threads of its backend would
    // never be told of them.
    list._withUnsafeGuaranteedRef { list in
      if cplatform_forks_here() != nil, !list.task.isAlone { list.showAll() }
      list.begin(task, launch: launch)
    }
  }

  @usableFromInline
  package func end() {
    guard let list = cplatform_forks_here() else { fatalError("Operations: a scope of forks ends that has not begun") }
    ForkList.unmanaged(list)._withUnsafeGuaranteedRef { $0.end() }
  }

  /// Where a scope that began here would be: in no other scope.
  package static var homeHere: BackendHome { home(of: LaunchFrame.current)._withUnsafeGuaranteedRef { $0 } }

  /// The backend of the innermost operation, when that backend runs forks; otherwise the default backend.
  private static func home(of launch: UnsafeMutablePointer<LaunchFrame>?) -> Unmanaged<BackendHome> {
    var frame = launch
    while let here = frame, here.pointee.queue == 0 { frame = here.pointee.previous }
    if let queue = frame?.pointee.queue,
      let home = JobQueue.object(queue)._withUnsafeGuaranteedRef({ $0.box })._withUnsafeGuaranteedRef({ $0.forkHome })
    {
      return .passUnretained(home)
    }
    return .passUnretained(DrivenBackends.forkHome)
  }
}
