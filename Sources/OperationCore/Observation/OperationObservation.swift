import Primitives

/// Which values a change carries, and when the handler is called; as in Foundation's key-value observing.
public struct OperationObservingOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// `newValue` is given.
  public static let new = OperationObservingOptions(rawValue: 1)
  /// `oldValue` is given.
  public static let old = OperationObservingOptions(rawValue: 2)
  /// The handler is called once at once, with the value at that time.
  public static let initial = OperationObservingOptions(rawValue: 4)
  /// The handler is called twice for a change; first with `isPrior` and without `newValue`.
  public static let prior = OperationObservingOptions(rawValue: 8)
}

/// What happened to an observed property.
public struct OperationObservedChange<Value> {
  /// With option `.new`, and not before the change.
  public let newValue: Value?
  /// With option `.old`: the value that the handler was told before (or the one at registration).
  public let oldValue: Value?
  /// The call that precedes the change itself (option `.prior`).
  public let isPrior: Bool
}

/// Keeps an observation alive: it ends with `invalidate()`, or with this object.
public final class OperationObservation: Sendable {
  private let cancel: @Sendable () -> Void

  init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

  /// No call of the handler begins after this returns, save those already on their way on another thread.
  public func invalidate() { cancel() }

  deinit { cancel() }
}

/// One registered handler, its types erased.
///
/// Sendable: `last` is touched under `lock`; the handler is called without it.
final class Observer: @unchecked Sendable {
  private let lock = FutexLock()
  private let call: (AnyObject, _ onlyIfChanged: Bool) -> Void
  private let tellInitial: (AnyObject) -> Void
  private var active = true

  /// - Parameter read: the property's value now.
  init<Subject: AnyObject, Value>(
    of subject: Subject, options: OperationObservingOptions, read: @escaping (Subject) -> Value,
    handler: @escaping @Sendable (Subject, OperationObservedChange<Value>) -> Void
  ) {
    let lastLock = FutexLock()
    nonisolated(unsafe) var last = read(subject)
    call = { object, onlyIfChanged in
      guard let subject = object as? Subject else { return }
      let value = read(subject)
      let old = lastLock.withLock {
        defer { last = value }
        return last
      }
      if onlyIfChanged, let now = value as? Bool, let before = old as? Bool, now == before { return }
      let shown = options.contains(.old) ? old : nil
      if options.contains(.prior) {
        handler(subject, OperationObservedChange(newValue: nil, oldValue: shown, isPrior: true))
      }
      handler(
        subject,
        OperationObservedChange(newValue: options.contains(.new) ? value : nil, oldValue: shown, isPrior: false))
    }
    tellInitial = { object in
      guard options.contains(.initial), let subject = object as? Subject else { return }
      handler(
        subject,
        OperationObservedChange(
          newValue: options.contains(.new) ? read(subject) : nil, oldValue: nil, isPrior: false))
    }
  }

  /// For option `.initial`; when the observer is registered, so that no change falls in between.
  func begin(_ subject: AnyObject) { tellInitial(subject) }

  /// - Parameter onlyIfChanged: a flag that has the value told last is not told again: for a post that does not say what changed.
  func notify(_ subject: AnyObject, onlyIfChanged: Bool = false) {
    if lock.withLock({ active }) { call(subject, onlyIfChanged) }
  }

  func deactivate() { lock.withLock { active = false } }
}

/// The handlers of one operation by key, and what its subclass posts by itself. Guarded by the operation's lock.
struct ObserverList {
  private var observers: [(key: ObservableKey, observer: Observer)] = []
  /// Keys that the subclass posts: the base class does not report them as well.
  private var ownPosts: Set<ObservableKey> = []
  /// Posted, and not yet reported.
  private var pending: Set<ObservableKey> = []
  /// Something was posted that may be any of these.
  private var pendingAny = false
  private static let stateKeys: [ObservableKey] = [.isExecuting, .isFinished, .isReady]

  mutating func add(_ observer: Observer, for key: ObservableKey) { observers.append((key, observer)) }
  mutating func remove(_ observer: Observer) { observers.removeAll { $0.observer === observer } }

  func forKey(_ key: ObservableKey) -> [Observer] { observers.compactMap { $0.key == key ? $0.observer : nil } }
  func isOwnPost(_ key: ObservableKey) -> Bool { ownPosts.contains(key) }

  mutating func willPost(_ key: ObservableKey?) { ownPosts.formUnion(key.map { [$0] } ?? Self.stateKeys) }

  /// - Parameter key: nil: unknown, which means any of the state.
  mutating func post(_ key: ObservableKey?) {
    willPost(key)
    if let key { pending.insert(key) } else { pendingAny = true }
  }

  /// The keys whose observers are to be told, and whether only of a change.
  mutating func takePending() -> [(key: ObservableKey, onlyIfChanged: Bool)] {
    let any = pendingAny ? Self.stateKeys.filter { !pending.contains($0) } : []
    let named = ObservableKey.allCases.filter(pending.contains)
    pending = []
    pendingAny = false
    return named.map { ($0, false) } + any.map { ($0, true) }
  }
}
