import CPlatform
import Primitives

/// An outermost join on a thread, from its beginning to its end: the thread has a list of forks meanwhile. Joins inside of
/// the scope find the list, unless they are in another operation that runs on top, or on another backend.
@usableFromInline
enum ForkScope {
  /// Begins a scope.
  /// - Parameter backend: whose threads help; nil for the backend of the present operation, or else the default one.
  /// - Returns: false when the thread cannot have forks now: its list is full, or there is no memory for one. Then there is no
  ///   scope to end.
  @usableFromInline
  static func begin(on backend: (any Backend)?) -> Bool {
    let launch = LaunchFrame.current
    guard let list = ForkList.take() else { return false }
    if let here = cplatform_forks_here(), here.pointee.launch == UnsafeMutableRawPointer(launch) {
      // A join of this launch found no place in the list, or names a backend.
      guard let backend, here.pointee.next < here.pointee.end else { return false }
      if list.box?.backend === backend {
        list.beginInside()
        return true
      }
    }
    let box = backend.map { BackendBox($0) } ?? box(of: launch)
    list.begin(box, isGuest: box.supervised?.beginForks() ?? false, launch: launch, level: level(of: launch))
    return true
  }

  @usableFromInline
  static func end() {
    guard let list = cplatform_forks_here() else { fatalError("Operations: a scope of forks ends that has not begun") }
    ForkList.of(list).end()
  }

  /// The backend of the innermost operation, when that backend runs forks; otherwise the default backend.
  private static func box(of launch: UnsafeMutablePointer<LaunchFrame>?) -> BackendBox {
    guard launch != nil, let queue = LaunchFrame.currentQueue, queue.supervisedBackend?.runsForks == true else {
      return DrivenBackends.boxOrDefault
    }
    return queue.backendBox
  }

  /// The level of the innermost operation.
  private static func level(of launch: UnsafeMutablePointer<LaunchFrame>?) -> Int {
    let operation = LaunchFrame.operation(at: launch)
    if operation == 0 { return Job.middleLevel }
    return JobObject.unmanaged(operation)._withUnsafeGuaranteedRef { $0.level }
  }
}
