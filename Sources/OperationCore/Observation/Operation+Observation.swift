import Primitives

/// Carries `observe` and the key-path forms of `willChangeValue`, so that these methods know the subclass's own type.
public protocol OperationObserving: AnyObject {}

extension Operation: OperationObserving {}

extension OperationObserving where Self: Operation {
  /// Calls `changeHandler` when the property changes, on the thread that changes the property, outside of all locks
  /// of this library. A property that a subclass computes changes when the subclass says so. The handler is called in
  /// `didChangeValue` (with option `.prior` also in `willChangeValue`), on the posting thread, in the order of
  /// posting, each change once. So if a subclass posts under a lock of its own, the handler is called under that
  /// lock. The property is then read only with option `.new` or `.old`.
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

  /// The same as `observe` above, for a key path that spells the subclass. A key path to a property that a final
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
    lock.withLock { extras.observers.add(observer, for: key) }
    raise(StateWord.observed)
    if key == .isReady { for dependency in dependencies { watchForReadiness(dependency) } }
    observer.begin(self)
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
  /// Reports a change that the base class made, unless the subclass posts that property itself.
  final func notify(_ key: ObservableKey) {
    let observers = lock.withLock {
      guard let list = extrasIfAny?.pointee.observers, !list.isOwnPost(key) else { return [Observer]() }
      return list.forKey(key)
    }
    for observer in observers { observer.notify(self) }
  }

  /// Until a queue lists the operation, no edge tells the operation that a dependency has finished. For an operation
  /// whose readiness is observed, an observation of the dependency does so.
  final func watchForReadiness(_ dependency: Operation) {
    guard !stateNow.has(StateWord.listed), !dependency.isFinished else { return }
    let watch = dependency.observe(\.isFinished) { [weak self] _, _ in
      guard let self, !self.stateNow.has(StateWord.listed), self.isReady else { return }
      self.notify(.isReady)
    }
    lock.withLock { extras.readinessWatches.append(watch) }
    // The dependency may have finished before it was watched.
    if dependency.isFinished, !stateNow.has(StateWord.listed), isReady { notify(.isReady) }
  }

  final var isReadinessObserved: Bool {
    lock.withLock { extrasIfAny?.pointee.observers.isObserved(.isReady) == true }
  }
}
