import Primitives

/// Which values a change carries, and when the handler is called; as in Foundation's key-value observing.
public struct OperationObservingOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// `newValue` is given.
  public static let new = OperationObservingOptions(rawValue: 1)
  /// `oldValue` is given.
  public static let old = OperationObservingOptions(rawValue: 2)
  /// The handler is called once at registration, with the value at that time.
  public static let initial = OperationObservingOptions(rawValue: 4)
  /// The handler is called twice for a change; first with `isPrior` and without `newValue`.
  public static let prior = OperationObservingOptions(rawValue: 8)
}

/// What happened to an observed property.
public struct OperationObservedChange<Value> {
  /// Given with option `.new`, and not before the change.
  public let newValue: Value?
  /// Given with option `.old`: the value that the handler was told before (or the value at registration).
  public let oldValue: Value?
  /// Whether this call precedes the change itself (option `.prior`).
  public let isPrior: Bool
}

/// Keeps an observation alive: the observation ends with `invalidate()`, or with this object.
public final class OperationObservation: Sendable {
  private let cancel: @Sendable () -> Void

  init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

  /// After `invalidate()` has returned, no call of the handler begins, except calls already on their way on another
  /// thread.
  public func invalidate() { cancel() }

  deinit { cancel() }
}

/// A value that a property got by a change, for the observers of that property. The type tells a value that is nil
/// from no value.
struct ObservedValue<Value> {
  let value: Value
}

/// One registered handler, its types erased.
///
/// A change is told in two steps. Under the lock that guards the change, `enqueue` puts the change and its value into
/// the observer's inbox: so the inbox has the order of the changes. Without a lock, `deliver` calls the handler for
/// what is in the inbox. One thread at a time does that, so a handler is told of one change after the other. A thread
/// that finds another one at it leaves its change to that thread: it would else have to wait for a user's code.
///
/// Sendable: `active`, `inbox` and `isTelling` are touched under `lock`, `last` under a lock of its own, `position`
/// under the lock of the list that the observer is in. The handler is called without any of these locks.
final class Observer: @unchecked Sendable {
  /// When a handler is called.
  private enum Moment {
    case prior
    case changed(onlyIfDifferent: Bool)
  }

  private let lock = FutexLock()
  /// The second parameter is an `ObservedValue`; nil: the property is read.
  private let call: (AnyObject, Any?, Moment) -> Void
  private let callInitially: (AnyObject, Any?) -> Void
  private let isPriorWanted: Bool
  /// Whether the handler is told values. Where no handler is, a change is enqueued without its value.
  let wantsValue: Bool
  private var active = true
  /// Changes that the handler has not been told.
  private var inbox: [Any?] = []
  /// A thread is calling the handler. The thread that registers the observer is the first.
  private var isTelling = true
  /// The observer's place in its `ObserverSlots`, guarded by the lock that guards the slots.
  fileprivate var position = 0

  /// - Parameter read: returns the property's value now. `read` is called only for options that need the value: a
  ///   subclass may post while it holds the lock that its property takes.
  init<Subject: AnyObject, Value>(
    of _: Subject, options: OperationObservingOptions, read: @escaping (Subject) -> Value,
    handler: @escaping @Sendable (Subject, OperationObservedChange<Value>) -> Void
  ) {
    let lastLock = FutexLock()
    let wantsNew = options.contains(.new)
    let wantsOld = options.contains(.old)
    isPriorWanted = options.contains(.prior)
    wantsValue = wantsNew || wantsOld
    nonisolated(unsafe) var last: Value?
    func known(_ value: Any?, _ subject: Subject) -> Value {
      (value as? ObservedValue<Value>)?.value ?? read(subject)
    }
    callInitially = { object, value in
      guard let subject = object as? Subject else { return }
      let isInitial = options.contains(.initial)
      let now = wantsOld || isInitial && wantsNew ? known(value, subject) : nil
      if wantsOld { lastLock.withLock { last = now } }
      guard isInitial else { return }
      handler(subject, OperationObservedChange(newValue: wantsNew ? now : nil, oldValue: nil, isPrior: false))
    }
    call = { object, value, moment in
      guard let subject = object as? Subject else { return }
      switch moment {
      case .prior:
        let old = lastLock.withLock { last }
        handler(subject, OperationObservedChange(newValue: nil, oldValue: old, isPrior: true))
      case .changed(let onlyIfDifferent):
        var new: Value?
        var old: Value?
        if wantsNew || wantsOld || onlyIfDifferent {
          let now = known(value, subject)
          new = now
          old = lastLock.withLock { exchange(&last, with: now) }
          if onlyIfDifferent, let now = now as? Bool, let before = old as? Bool, now == before { return }
        }
        handler(
          subject,
          OperationObservedChange(newValue: wantsNew ? new : nil, oldValue: wantsOld ? old : nil, isPrior: false))
      }
    }
  }

  /// Called once when the observer has been registered, without a lock. For option `.initial`; and from here on changes
  /// are told.
  /// - Parameter value: the value at the registration; nil: the property is read.
  func begin(_ subject: AnyObject, _ value: Any?) {
    callInitially(subject, value)
    tellInbox(subject)
  }

  /// Called under the lock that guards the change.
  func enqueue(_ value: Any?) {
    lock.withLock { if active { inbox.append(value) } }
  }

  /// Called without a lock, after `enqueue`.
  func deliver(_ subject: AnyObject) {
    let isMine = lock.withLock {
      if isTelling || inbox.isEmpty { return false }
      isTelling = true
      return true
    }
    if isMine { tellInbox(subject) }
  }

  /// Called by the one thread that tells.
  private func tellInbox(_ subject: AnyObject) {
    while true {
      let changes = lock.withLock {
        isTelling = !inbox.isEmpty
        return exchange(&inbox, with: [])
      }
      if changes.isEmpty { return }
      for value in changes {
        // A change of the library's own is announced when it is made: a handler with option `.prior` is called twice.
        willChange(subject)
        didChange(subject, value)
      }
    }
  }

  /// A subclass is about to change the property.
  func willChange(_ subject: AnyObject) {
    if isPriorWanted, isActive { call(subject, nil, .prior) }
  }

  /// - Parameter onlyIfDifferent: a flag that still has the value told last is not told again. For a post that does
  ///   not say what changed.
  func didChange(_ subject: AnyObject, _ value: Any? = nil, onlyIfDifferent: Bool = false) {
    if isActive { call(subject, value, .changed(onlyIfDifferent: onlyIfDifferent)) }
  }

  private var isActive: Bool { lock.withLock { active } }

  func deactivate() {
    let untold = lock.withLock {
      active = false
      return exchange(&inbox, with: [])
    }
    // Values may be the last references to operations: they go without the lock.
    withExtendedLifetime(untold) {}
  }
}

/// Observers by key, each key's in the order of registration. Adding and removing are O(1) on average, because an
/// observer knows its place: one dependency may have as many observers as operations depend on it. Not synchronised.
struct ObserverSlots<Key: Hashable> {
  private struct Slots {
    /// Nil: a hole. Fewer than half of the slots are holes.
    var observers: [Observer?] = []
    var holes = 0
  }

  private var keys: [Key: Slots] = [:]

  mutating func add(_ observer: Observer, for key: Key) {
    observer.position = keys[key]?.observers.count ?? 0
    keys[key, default: Slots()].observers.append(observer)
  }

  /// The caller holds the observer: its handler must not be released under a lock.
  mutating func remove(_ observer: Observer, for key: Key) {
    guard let index = keys.index(forKey: key), keys.values[index].observers.indices.contains(observer.position),
      keys.values[index].observers[observer.position] === observer
    else { return }
    keys.values[index].observers[observer.position] = nil
    keys.values[index].holes += 1
    let (count, holes) = (keys.values[index].observers.count, keys.values[index].holes)
    if holes == count {
      keys.remove(at: index)
    } else if holes * 2 >= count {
      let left = keys.values[index].observers.compactMap(\.self)
      for (position, observer) in left.enumerated() { observer.position = position }
      keys.values[index] = Slots(observers: left)
    }
  }

  func forKey(_ key: Key) -> [Observer] { keys[key]?.observers.compactMap(\.self) ?? [] }

  /// Puts a change into the inboxes of the key's observers.
  /// - Parameter value: an `ObservedValue` or nil; called at most once, and only for observers that want a value.
  func enqueue(_ key: Key, _ value: () -> Any?) -> [Observer] {
    let observers = forKey(key)
    let known = observers.contains(where: \.wantsValue) ? value() : nil
    for observer in observers { observer.enqueue(known) }
    return observers
  }

  /// O(1).
  func isObserved(_ key: Key) -> Bool { keys[key] != nil }
}

/// The handlers of one operation by key, the keys that its subclass posts itself, and what the handlers have been told
/// of the operation's state. Guarded by the operation's lock.
struct ObserverList {
  private var slots = ObserverSlots<ObservableKey>()
  /// Keys that the subclass posts: the base class does not report them as well.
  private var ownPosts: Set<ObservableKey> = []
  private static let stateKeys: [ObservableKey] = [.isExecuting, .isFinished, .isReady]
  /// What the base class's properties are, as far as observers know. A change that another thread has reported on
  /// behalf of its maker is not reported again.
  private(set) var state: [ObservableKey: Bool] = [:]

  mutating func add(_ observer: Observer, for key: ObservableKey) { slots.add(observer, for: key) }
  mutating func remove(_ observer: Observer, for key: ObservableKey) { slots.remove(observer, for: key) }

  func forKey(_ key: ObservableKey) -> [Observer] { slots.forKey(key) }
  func isObserved(_ key: ObservableKey) -> Bool { slots.isObserved(key) }
  func isOwnPost(_ key: ObservableKey) -> Bool { ownPosts.contains(key) }

  /// The operation gets its first observer.
  /// - Parameter word: the state before the flag `observed`. A thread that changes the state later sees the flag, and
  ///   reports.
  mutating func begin(_ word: StateWord) {
    state = [
      .isCancelled: word.has(StateWord.cancelled), .isExecuting: word.isExecuting,
      .isFinished: word.has(StateWord.finished),
    ]
  }

  /// Notes what a property of the state is now.
  /// - Returns: whether observers do not know that yet.
  mutating func change(_ key: ObservableKey, to value: Bool) -> Bool {
    state.updateValue(value, forKey: key) != value
  }

  /// Puts a change that the base class made into the inboxes of the key's observers, unless the class posts the key
  /// itself. Of `isReady` a class posts its own condition alone: the base class goes on telling of the dependencies.
  /// - Parameter value: an `ObservedValue`, made for observers that want one.
  /// - Returns: the observers to deliver to, when no lock is held.
  func enqueue(_ key: ObservableKey, _ value: () -> Any?) -> [Observer] {
    key != .isReady && isOwnPost(key) ? [] : slots.enqueue(key, value)
  }

  /// The subclass posts a key. Nil: the key is unknown, and stands for any key of the state.
  /// - Returns: the observers to tell.
  mutating func post(_ key: ObservableKey?) -> [Observer] {
    let keys = key.map { [$0] } ?? Self.stateKeys
    ownPosts.formUnion(keys)
    return keys.flatMap(forKey)
  }
}
