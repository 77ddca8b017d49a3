import Operations

/// Runs until told to end.
public final class GatedOperation: Operation, @unchecked Sendable {
  // Invariant: both are constant and thread-safe themselves.
  public let started = Gate()
  public let release = Gate()

  public override func main() {
    started.open()
    release.pass()
  }
}

/// Computes until told to end: no backend takes its thread for a blocked one, and gives the operations behind it
/// another.
public final class SpinningOperation: Operation, @unchecked Sendable {
  // Invariant: both are constant and thread-safe themselves.
  public let started = Gate()
  public let release = SpinFlag()

  public override func main() {
    started.open()
    release.spin()
  }
}

/// Counts how often the queue entered it.
open class CountingOperation: Operation, @unchecked Sendable {
  // Invariant: all are constant and thread-safe themselves.
  public let starts = Counter()
  public let mains = Counter()
  public let completions = Counter()
  private let body: @Sendable (CountingOperation) -> Void

  public init(name: String? = nil, _ body: @escaping @Sendable (CountingOperation) -> Void = { _ in }) {
    self.body = body
    super.init()
    self.name = name
    let completions = completions
    completionBlock = { completions.increment() }
  }

  open override func start() {
    starts.increment()
    super.start()
  }

  open override func main() {
    mains.increment()
    body(self)
  }
}

/// Carries a token of a tracker.
public final class TrackedOperation: Operation, @unchecked Sendable {
  // Invariant: constant.
  private let token: LifetimeTracker.Token

  public init(_ tracker: LifetimeTracker) {
    token = tracker.token()
    super.init()
  }
}

/// The asynchronous pattern as written by hand for Foundation, state behind a lock, posted by key string.
public final class StringKeyedOperation: Operation, @unchecked Sendable {
  // Invariant: the flags are in a monitor; the body is constant.
  private let flags = Monitor((executing: false, finished: false))
  private let body: @Sendable (StringKeyedOperation) -> Void
  private let prefixed: Bool

  /// - Parameter prefixed: Posts "isFinished" rather than "finished".
  public init(prefixed: Bool = true, _ body: @escaping @Sendable (StringKeyedOperation) -> Void) {
    self.prefixed = prefixed
    self.body = body
    super.init()
  }

  public override var isAsynchronous: Bool { true }
  public override var isExecuting: Bool { flags.value.executing }
  public override var isFinished: Bool { flags.value.finished }

  public override func start() {
    guard !isCancelled else {
      post("finished") { flags.with { $0.finished = true } }
      return
    }
    post("executing") { flags.with { $0.executing = true } }
    body(self)
  }

  public func finish() {
    post("executing") { flags.with { $0.executing = false } }
    post("finished") { flags.with { $0.finished = true } }
  }

  private func post(_ property: String, _ change: () -> Void) {
    let key = prefixed ? "is" + property.prefix(1).uppercased() + property.dropFirst() : property
    willChangeValue(forKey: key)
    change()
    didChangeValue(forKey: key)
  }
}
