import Operations
import Synchronization
import TestSupport

/// The asynchronous pattern as written for Foundation: overrides the state and posts its changes, from other threads
/// and with a lock of its own held, which its completion block takes too: whoever called that from within the post
/// would wait for ever.
final class HandWrittenStressOperation: Operation, RecordedOperation, @unchecked Sendable {
  enum Style: CaseIterable, Sendable { case prefixedKeys, plainKeys, keyPaths, neverPostsExecuting }

  // Invariant: constant, or atomic.
  let record: OperationRecord
  private let context: RoundContext
  private let plan: BodyPlan
  private let style: Style
  private let executing = Atomic<Bool>(false)
  private let finished = Atomic<Bool>(false)
  private let posting = Monitor<Void>(())

  init(_ record: OperationRecord, _ context: RoundContext, _ plan: BodyPlan, _ style: Style) {
    (self.record, self.context, self.plan, self.style) = (record, context, plan, style)
    super.init()
  }

  deinit { context.release(record, isFinished: isFinished, isCancelled: isCancelled) }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { executing.load(ordering: .acquiring) }
  override var isFinished: Bool { finished.load(ordering: .acquiring) }

  override func start() {
    guard !isCancelled else { return setFinished() }
    setExecuting(true)
    context.begin(record, self)
    plan.run(self, context)
    context.couriers.post {
      self.plan.run()
      self.context.end(self.record)
      self.setExecuting(false)
      self.setFinished()
    }
  }

  /// For the completion block.
  func takeLock() { posting.with { _ in } }

  private func setExecuting(_ value: Bool) {
    post("executing", \.isExecuting, isPosted: style != .neverPostsExecuting) {
      executing.store(value, ordering: .releasing)
    }
  }

  private func setFinished() {
    post("finished", \.isFinished, isPosted: true) { finished.store(true, ordering: .releasing) }
  }

  private func post(
    _ key: String, _ keyPath: KeyPath<Operation, Bool>, isPosted: Bool, _ change: () -> Void
  ) {
    posting.with { _ in
      guard isPosted else { return change() }
      let name = style == .plainKeys ? key : "is" + key.prefix(1).uppercased() + key.dropFirst()
      if style == .keyPaths { willChangeValue(for: keyPath) } else { willChangeValue(forKey: name) }
      change()
      if style == .keyPaths { didChangeValue(for: keyPath) } else { didChangeValue(forKey: name) }
    }
  }
}
