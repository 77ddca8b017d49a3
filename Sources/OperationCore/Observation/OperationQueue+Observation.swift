import OperationJobs
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
  /// Calls `changeHandler` once for each change of the property, in the order of the changes, with the value that the
  /// change made. The thread that changes the property calls the handler, outside of all locks. If another thread is
  /// telling the handler of an earlier change, that thread tells this change too.
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
    observer.begin(self, register(observer, for: key))
    return OperationObservation { [weak self] in
      observer.deactivate()
      guard let self else { return }
      self.lock.withLock { self.extras.observers.remove(observer, for: key) }
    }
  }
}

// A change of an observed queue and its report are one step, under `changes`: so each change is told once, with the
// value that it made, in the order of the changes. Nothing of this is done for a queue that nobody observes.
//
// Order of locks: the controller's, then `changes`, then the queue's own and the registry's.
extension OperationQueue {
  /// - Returns: the value that the observer knows from now on; nil: the property is read.
  fileprivate final func register(_ observer: Observer, for key: ObservableQueueKey) -> Any? {
    // A subclass may compute the properties: only reading them tells the value.
    let isReading = type(of: self) != OperationQueue.self || !observer.wantsValue
    return changes.withLock {
      lock.withLock { extras.observers.add(observer, for: key) }
      // A thread that changes the list either sees the flag, or its change is in the count.
      if !isObserved {
        becomeObserved()
        notedCount = registry.pendingCount
      }
      return isReading ? nil : value(of: key)
    }
  }

  /// Called under `changes`.
  private final func value(of key: ObservableQueueKey) -> Any {
    switch key {
    case .operations: ObservedValue(value: snapshot())
    case .operationCount: ObservedValue(value: notedCount)
    case .maxConcurrentOperationCount: ObservedValue(value: maximumNow)
    case .isSuspended: ObservedValue(value: isSuspendedNow)
    case .name: ObservedValue(value: lock.withLock { extras.name })
    }
  }

  /// Called under `changes`, after a change.
  final func note(_ key: ObservableQueueKey) {
    let reads = type(of: self) != OperationQueue.self
    let observers = lock.withLock { extras.observers }
    _ = observers.enqueue(key) { reads ? nil : value(of: key) }
  }

  /// Called before a change of the list of operations: numbers are taken and slots filled, or slots emptied. No code of
  /// a user's runs until `endChange`.
  /// - Returns: whether the queue is observed: the change is made under `changes`, and noted.
  @inline(__always)
  final func beginChange() -> Bool {
    let isNoted = isObserved
    if _slowPath(isNoted) { lockChanges() }
    return isNoted
  }

  /// - Parameter isNoted: what `beginChange` returned. `tellOfList` follows.
  @inline(__always)
  final func endChange(isNoted: Bool) {
    if _slowPath(isNoted) { noteListAndUnlock() }
  }

  @inline(never)
  private final func lockChanges() { changes.lock() }

  @inline(never)
  private final func noteListAndUnlock() {
    noteList()
    changes.unlock()
  }

  /// Called under `changes`.
  private final func noteList() {
    notedCount = registry.pendingCount
    note(.operations)
    note(.operationCount)
  }

  /// Tells observers of the list, without a lock. An observer may have come while the list was changed: the change is
  /// noted now, unless somebody has noted it with a change of its own.
  @inline(__always)
  final func tellOfList(isNoted: Bool) {
    if _slowPath(isObservedForSure) { tell(isNoted: isNoted) }
  }

  @inline(never)
  private final func tell(isNoted: Bool) {
    if !isNoted { changes.withLock { if registry.pendingCount != notedCount { noteList() } } }
    deliver(.operations)
    deliver(.operationCount)
  }

  /// Calls the observers for what has been noted, without a lock.
  final func deliver(_ key: ObservableQueueKey) {
    guard isObserved else { return }
    for observer in lock.withLock({ extras.observers.forKey(key) }) { observer.deliver(self) }
  }
}
