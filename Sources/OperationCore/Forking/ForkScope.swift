import CPlatform
import Primitives

/// An outermost join on a thread, from its beginning to its end: the thread has a list of forks meanwhile. Joins inside of
/// it find the list, unless they are in another operation that runs on top, or on another backend.
@usableFromInline
struct ForkScope {
  private let list: ForkList
  /// Nil when a scope of the same list and backend is under way already.
  private let outer: ForkList.Surroundings?

  /// Begins a scope.
  /// - Parameters:
  ///   - backend: whose threads help; nil for the backend of the present operation, or else the default one.
  ///   - level: of the forks; nil for that of the present operation.
  /// - Returns: nil when the thread cannot have forks now: its list is full, or there is no memory for one.
  @usableFromInline
  init?(on backend: (any Backend)?, level: Int? = nil) {
    let launch = LaunchFrame.current
    let list: ForkList
    if let memory = cplatform_forks_here() {
      list = ForkList.of(memory)
      let isHere = memory.pointee.launch == UnsafeMutableRawPointer(launch)
      guard memory.pointee.next < memory.pointee.end else { return nil }
      if isHere, let backend, let box = list.box, box.backend === backend {
        self.list = list
        outer = nil
        return
      }
      if isHere, backend == nil { return nil }
    } else {
      guard let new = ForkList.take() else { return nil }
      list = new
    }
    let box = backend.map { BackendBox($0) } ?? Self.box(launch)
    self.list = list
    outer = list.surroundings
    list.begin(box, isGuest: box.supervised?.beginForks() ?? false, launch: launch, level: level ?? Self.level(launch))
  }

  @usableFromInline
  func end() {
    if let outer { list.end(outer) }
  }

  /// The backend of the innermost operation, when that backend is one of this library's; otherwise the default backend.
  private static func box(_ launch: UnsafeMutablePointer<LaunchFrame>?) -> BackendBox {
    guard launch != nil, let queue = LaunchFrame.currentQueue, queue.supervisedBackend != nil else {
      return DrivenBackends.boxOrDefault
    }
    return queue.backendBox
  }

  /// The level of the innermost operation.
  private static func level(_ launch: UnsafeMutablePointer<LaunchFrame>?) -> Int {
    var frame = launch
    while let here = frame {
      if here.pointee.operation != 0 {
        return JobObject.unmanaged(here.pointee.operation)._withUnsafeGuaranteedRef { $0.level }
      }
      frame = here.pointee.previous
    }
    return Job.middleLevel
  }
}
