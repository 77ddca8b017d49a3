import Primitives

/// The properties of a queue that can be observed.
enum ObservableQueueKey: Sendable {
  case operations, operationCount, maxConcurrentOperationCount, isSuspended, name

  init?<Subject: OperationQueue>(_ path: PartialKeyPath<Subject>) {
    switch path {
    case \Subject.operations: self = .operations
    case \Subject.operationCount: self = .operationCount
    case \Subject.maxConcurrentOperationCount: self = .maxConcurrentOperationCount
    case \Subject.isSuspended: self = .isSuspended
    case \Subject.name: self = .name
    default: return nil
    }
  }
}

/// Carries `observe`, so that the method knows the subclass's own type.
public protocol OperationQueueObserving: AnyObject {}

extension OperationQueue: OperationQueueObserving {}

extension OperationQueueObserving where Self: OperationQueue {
  /// Calls `changeHandler` when the property changes, on the thread that changes the property, outside of all locks.
  ///
  /// Observable are `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended` and `name`; another
  /// key path traps. With `.new` or `.old`, each change of `operations` costs a snapshot.
  /// - Returns: a token; the observation ends with the token.
  public func observe<Value>(
    _ keyPath: KeyPath<OperationQueue, Value>, options: OperationObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, OperationObservedChange<Value>) -> Void
  ) -> OperationObservation {
    guard let key = ObservableQueueKey(keyPath) else { misuse(self, "\(keyPath) cannot be observed") }
    let observer = Observer(of: self, options: options, read: { $0[keyPath: keyPath] }, handler: changeHandler)
    lock.withLock { extras.observers.add(observer, for: key) }
    becomeObserved()
    observer.begin(self)
    return OperationObservation { [weak self] in
      observer.deactivate()
      guard let self else { return }
      self.lock.withLock { self.extras.observers.remove(observer, for: key) }
    }
  }
}

extension OperationQueue {
  final func notify(_ key: ObservableQueueKey) {
    guard isObserved else { return }
    let observers = lock.withLock { extras.observers.forKey(key) }
    for observer in observers { observer.notify(self) }
  }

  /// An operation was added, or left.
  final func notifyListChanged() {
    notify(.operations)
    notify(.operationCount)
  }
}
