import OperationJobs
import Primitives

/// Carries `observe` and the key-path forms of `willChangeValue`, so that these methods know the subclass's own type.
public protocol OperationObserving: AnyObject {}

extension Operation: OperationObserving {}

extension OperationObserving where Self: Operation {
  /// Calls `changeHandler` once for each change of the property, in the order of the changes, with the value that the
  /// change made. The thread that changes the property calls the handler, outside of all locks of this library. If
  /// another thread is telling the handler of an earlier change, that thread tells this change too. A property that a
  /// subclass computes changes when the subclass says so. The handler is called in `didChangeValue` (with option
  /// `.prior` also in `willChangeValue`), on the posting thread, in the order of posting, each change once. So if a
  /// subclass posts under a lock of its own, the handler is called under that lock. The property is then read only with
  /// option `.new` or `.old`.
  ///
  /// Observable are `isCancelled`, `isAsynchronous`, `isConcurrent`, `isExecuting`, `isFinished`, `isReady`,
  /// `dependencies`, `queuePriority` and `completionBlock`; another key path traps. An operation that nobody observes
  /// pays nothing.
  /// - Parameter keyPath: rooted in `Operation`, as `\.isFinished` is here, also when a subclass overrides the
  ///   property.
  /// - Returns: a token; the observation ends with the token.
  public func observe<Value>(
    _ keyPath: KeyPath<Operation, Value>, options: OperationObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, OperationObservedChange<Value>) -> Void
  ) -> OperationObservation {
    guard let key = ObservableKey(keyPath) else { misuse(self, "\(keyPath) cannot be observed") }
    return register(key, options: options, read: { $0[keyPath: keyPath] }, changeHandler)
  }

  /// Observes as `observe` above does, by a key path that spells the subclass. A key path to a property that a final
  /// class overrides cannot be told from others, and traps: write `\.isFinished` or `\Operation.isFinished`.
  @_disfavoredOverload
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: OperationObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, OperationObservedChange<Value>) -> Void
  ) -> OperationObservation {
    guard let key = ObservableKey(keyPath) else {
      misuse(self, "\(keyPath) cannot be observed; for an overridden property write the key path without the subclass")
    }
    return register(key, options: options, read: { $0[keyPath: keyPath] }, changeHandler)
  }

  private func register<Value>(
    _ key: ObservableKey, options: OperationObservingOptions, read: @escaping (Self) -> Value,
    _ changeHandler: @escaping @Sendable (Self, OperationObservedChange<Value>) -> Void
  ) -> OperationObservation {
    let observer = Observer(of: self, options: options, read: read, handler: changeHandler)
    let isReading = overrides(key)
    let value: Any? = lock.withLock {
      let before = raise(StateWord.observed)
      if !before.has(StateWord.observed) { extras.observers.begin(before) }
      extras.observers.add(observer, for: key)
      return isReading || !observer.wantsValue ? nil : valueAtRegistration(key)
    }
    if key == .isReady { beginToWatchReadiness() }
    observer.begin(self, value)
    return OperationObservation { [weak self] in
      observer.deactivate()
      guard let self else { return }
      self.lock.withLock { self.extras.observers.remove(observer, for: key) }
    }
  }

  /// The key-path form of `willChangeValue(forKey:)`, for a key path that spells the subclass.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    posted(ObservableKey(keyPath), isPrior: true)
  }

  /// The key-path form of `didChangeValue(forKey:)`, for a key path that spells the subclass. A key path that cannot
  /// be told from others stands for any property of the state.
  @_disfavoredOverload
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    posted(ObservableKey(keyPath), isPrior: false)
  }
}

extension Operation {
  /// The key-path form of `willChangeValue(forKey:)`.
  public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    posted(ObservableKey(keyPath), isPrior: true)
  }

  /// The key-path form of `didChangeValue(forKey:)`.
  public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    posted(ObservableKey(keyPath), isPrior: false)
  }
}

extension Operation {
  /// Reports a change of a property of the state that the base class has made, unless observers know of the change.
  /// Another thread may have reported the change, when it had to report a later one. The value of a property that a
  /// class computes is read when an observer is told.
  final func notify(_ key: ObservableKey, _ value: Bool) {
    let reads = overrides(key)
    report { list in
      list.change(key, to: value) ? list.enqueue(key) { reads ? nil : ObservedValue(value: value) } : []
    }
  }

  /// Puts changes into observers' inboxes under the lock, and calls the observers without it.
  /// - Parameter body: called under the lock, with the observers of this operation.
  final func report(_ body: (inout ObserverList) -> [Observer]) {
    deliver(lock.withLock { extrasIfAny == nil ? [] : body(&extras.observers) })
  }

  final func deliver(_ observers: [Observer]) { for observer in observers { observer.deliver(self) } }

  /// Reports the finish, and the start before it, if the thread that started the operation has not come to that yet.
  /// - Parameter old: the state before the finish.
  @inline(never)
  final func reportFinish(_ old: StateWord) {
    let (readsExecuting, readsFinished) = (overridesIsExecuting, overridesIsFinished)
    report { list in
      var observers: [Observer] = []
      func change(_ key: ObservableKey, to value: Bool) {
        let reads = key == .isExecuting ? readsExecuting : readsFinished
        guard list.change(key, to: value) else { return }
        observers += list.enqueue(key) { reads ? nil : ObservedValue(value: value) }
      }
      if old.isExecuting, !old.has(StateWord.postsExecuting), !readsExecuting { change(.isExecuting, to: true) }
      if old.isExecuting, !old.has(StateWord.postsExecuting) { change(.isExecuting, to: false) }
      if !old.has(StateWord.postsFinished) { change(.isFinished, to: true) }
      return observers
    }
  }

  /// Whether a class computes the property itself, so that only reading the property tells its value.
  fileprivate final func overrides(_ key: ObservableKey) -> Bool {
    switch key {
    case .isCancelled: !isPlain && OverridableMember.isCancelled.isOverridden(by: self)
    case .isExecuting: overridesIsExecuting
    case .isFinished: overridesIsFinished
    case .isReady: overridesIsReady
    case .isAsynchronous, .isConcurrent, .dependencies, .queuePriority, .completionBlock: true
    }
  }

  /// Under `lock`: the value that an observer knows from now on; nil for a property that is read.
  fileprivate final func valueAtRegistration(_ key: ObservableKey) -> Any? {
    extras.observers.state[key].map { ObservedValue(value: $0) }
  }

  // MARK: - Readiness in no queue

  /// Until a queue lists the operation, no edge tells the operation that a dependency has finished. Where somebody
  /// wants to know (an observer of the readiness, or a class that overrides `isReady`), an observation of each
  /// dependency does so.
  fileprivate final func beginToWatchReadiness() {
    for dependency in dependencies { watchForReadiness(dependency) }
    // What is true now is no change. A change that comes meanwhile has been noted before this.
    let now = stateNow
    lock.withLock {
      let place = extrasPlace
      guard place.pointee.observers.state[.isReady] == nil else { return }
      let isInQueue = now.has(StateWord.listed) || now.has(StateWord.cancelled)
      _ = place.pointee.observers.change(.isReady, to: isInQueue ? now.isReady : place.pointee.readinessWatches.isEmpty)
    }
  }

  /// Whether finishes of dependencies have to be watched while no queue lists the operation.
  @inline(__always)
  final var mayWatchReadiness: Bool {
    let now = stateNow
    if now.has(StateWord.listed) { return false }
    return now.has(StateWord.observed) && isReadinessObserved || !now.has(StateWord.enqueued) && overridesIsReady
  }

  /// - Parameter dependency: is among the operation's dependencies.
  final func watchForReadiness(_ dependency: Operation) {
    guard !stateNow.has(StateWord.listed), !dependency.isFinished else { return }
    let word = dependency.word
    let isNew = lock.withLock {
      guard extras.readinessWatches[word] == nil else { return false }
      extras.readinessWatches[word] = .some(nil)
      return true
    }
    guard isNew else { return }
    let watch = dependency.observe(\.isFinished) { [weak self] dependency, _ in
      if dependency.isFinished { self?.endWatch(of: dependency) }
    }
    let isKept = lock.withLock {
      guard extras.readinessWatches[word] != nil else { return false }
      extras.readinessWatches[word] = watch
      return true
    }
    // The dependency may have finished before it was watched.
    if isKept, dependency.isFinished { endWatch(of: dependency) }
  }

  /// A watched dependency has finished, or is none any more. The last one makes the operation ready.
  final func endWatch(of dependency: Operation) {
    var watch: OperationObservation??
    let isLast = lock.withLock {
      guard extrasIfAny != nil else { return false }
      watch = extras.readinessWatches.removeValue(forKey: dependency.word)
      return watch != nil && extras.readinessWatches.isEmpty
    }
    withExtendedLifetime(watch) {}
    guard isLast, !stateNow.has(StateWord.listed) else { return }
    if isReadinessObserved { reportReadinessInNoQueue() }
    askInNoQueue()
  }

  /// Reports the readiness as the dependencies have it, if that has changed. A class's own condition may not hold yet:
  /// the class may wait for the dependencies before it begins to find out.
  final func reportReadinessInNoQueue() {
    let reads = overridesIsReady
    let observers: [Observer] = lock.withLock {
      let place = extrasPlace
      let ready = stateNow.has(StateWord.cancelled) || place.pointee.readinessWatches.isEmpty
      guard place.pointee.observers.change(.isReady, to: ready) else { return [] }
      return place.pointee.observers.enqueue(.isReady) { reads ? nil : ObservedValue(value: ready) }
    }
    deliver(observers)
  }

  /// Foundation reads the property of an operation that no queue has when its last dependency has finished, and when
  /// the property is posted. There are classes that begin work of their own in that read. The examiner reads, because
  /// the caller may hold locks of a user's.
  final func askInNoQueue() {
    guard overridesIsReady, stateNow.bits & (StateWord.enqueued | StateWord.started | StateWord.finished) == 0 else {
      return
    }
    Examiner.submit { _ = self.readIsReady() }
  }

  final var isReadinessObserved: Bool {
    lock.withLock { extrasIfAny?.pointee.observers.isObserved(.isReady) == true }
  }
}
