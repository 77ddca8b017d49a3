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

/// One registered handler, its types erased.
///
/// Sendable: `active` is touched under `lock`, `last` under a lock of its own, `position` under the lock of the list
/// that the observer is in. The handler is called without any of these locks.
final class Observer: @unchecked Sendable {
  /// When a handler is called.
  private enum Moment {
    case initial, prior
    case changed(onlyIfDifferent: Bool)
  }

  private let lock = FutexLock()
  private let call: (AnyObject, Moment) -> Void
  private let isPriorWanted: Bool
  private var active = true
  /// The observer's place in its `ObserverSlots`, guarded by the lock that guards the slots.
  fileprivate var position = 0

  /// - Parameter read: returns the property's value now. `read` is called only for options that need the value: a
  ///   subclass may post while it holds the lock that its property takes.
  init<Subject: AnyObject, Value>(
    of subject: Subject, options: OperationObservingOptions, read: @escaping (Subject) -> Value,
    handler: @escaping @Sendable (Subject, OperationObservedChange<Value>) -> Void
  ) {
    let lastLock = FutexLock()
    let wantsNew = options.contains(.new)
    let wantsOld = options.contains(.old)
    isPriorWanted = options.contains(.prior)
    nonisolated(unsafe) var last = wantsOld ? read(subject) : nil
    call = { object, moment in
      guard let subject = object as? Subject else { return }
      switch moment {
      case .initial:
        guard options.contains(.initial) else { return }
        handler(
          subject, OperationObservedChange(newValue: wantsNew ? read(subject) : nil, oldValue: nil, isPrior: false))
      case .prior:
        let old = lastLock.withLock { last }
        handler(subject, OperationObservedChange(newValue: nil, oldValue: old, isPrior: true))
      case .changed(let onlyIfDifferent):
        var value: Value?
        var old: Value?
        if wantsNew || wantsOld || onlyIfDifferent {
          let now = read(subject)
          value = now
          old = lastLock.withLock { exchange(&last, with: now) }
          if onlyIfDifferent, let now = now as? Bool, let before = old as? Bool, now == before { return }
        }
        handler(
          subject,
          OperationObservedChange(newValue: wantsNew ? value : nil, oldValue: wantsOld ? old : nil, isPrior: false))
      }
    }
  }

  /// For option `.initial`: called when the observer is registered, so that no change falls in between.
  func begin(_ subject: AnyObject) { call(subject, .initial) }

  /// A change that is not announced before it is made: a handler with option `.prior` is called twice.
  func notify(_ subject: AnyObject) {
    willChange(subject)
    didChange(subject)
  }

  /// A subclass is about to change the property.
  func willChange(_ subject: AnyObject) {
    if isPriorWanted, isActive { call(subject, .prior) }
  }

  /// - Parameter onlyIfDifferent: a flag that still has the value told last is not told again. For a post that does
  ///   not say what changed.
  func didChange(_ subject: AnyObject, onlyIfDifferent: Bool = false) {
    if isActive { call(subject, .changed(onlyIfDifferent: onlyIfDifferent)) }
  }

  private var isActive: Bool { lock.withLock { active } }

  func deactivate() { lock.withLock { active = false } }
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
  /// O(1).
  func isObserved(_ key: Key) -> Bool { keys[key] != nil }
}

/// The handlers of one operation by key, and the keys that its subclass posts itself. Guarded by the operation's
/// lock.
struct ObserverList {
  private var slots = ObserverSlots<ObservableKey>()
  /// Keys that the subclass posts: the base class does not report them as well.
  private var ownPosts: Set<ObservableKey> = []
  private static let stateKeys: [ObservableKey] = [.isExecuting, .isFinished, .isReady]

  mutating func add(_ observer: Observer, for key: ObservableKey) { slots.add(observer, for: key) }
  mutating func remove(_ observer: Observer, for key: ObservableKey) { slots.remove(observer, for: key) }

  func forKey(_ key: ObservableKey) -> [Observer] { slots.forKey(key) }
  func isObserved(_ key: ObservableKey) -> Bool { slots.isObserved(key) }
  func isOwnPost(_ key: ObservableKey) -> Bool { ownPosts.contains(key) }

  /// The subclass posts a key. Nil: the key is unknown, and stands for any key of the state.
  /// - Returns: the observers to tell.
  mutating func post(_ key: ObservableKey?) -> [Observer] {
    let keys = key.map { [$0] } ?? Self.stateKeys
    ownPosts.formUnion(keys)
    return keys.flatMap(forKey)
  }
}
