import Primitives

/// An operation that calls one method of one object: the Swift form of Foundation's target-and-selector operation.
///
/// ```swift
/// let load = InvocationOperation(target: store, method: Store.load, argument: key)
/// queue.addOperation(load)
/// load.waitUntilFinished()
/// print(try load.result)
/// ```
public final class InvocationOperation<Target, Argument, Output>: Operation, @unchecked Sendable {
  // Sendable: `call` is read and cleared by the one thread that starts the operation. `outcome` is touched under
  // `outcomeLock`. The target and the argument are the user's to share.
  private var call: (() throws -> Output)?
  private var outcome: Result<Output, any Error>?
  private let outcomeLock = FutexLock()

  /// - Parameter method: the unapplied method, for example `Store.load`. `result` throws what the method throws.
  public init(target: Target, method: @escaping (Target) -> (Argument) throws -> Output, argument: Argument) {
    call = { try method(target)(argument) }
    super.init()
  }

  /// For a method without a parameter.
  /// - Parameter method: the unapplied method, for example `Store.load`. `result` throws what the method throws.
  public init(target: Target, method: @escaping (Target) -> () throws -> Output) where Argument == Void {
    call = { try method(target)() }
    super.init()
  }

  public override func main() {
    guard let call else { return }
    self.call = nil
    let outcome = Result { try call() }
    outcomeLock.withLock { self.outcome = outcome }
  }

  /// What the method returned. Throws what the method threw, `InvocationOperationError.cancelled` when the operation
  /// finished without calling the method, and `.notFinished` before the operation has finished.
  public var result: Output {
    get throws {
      guard isFinished else { throw InvocationOperationError.notFinished }
      guard let outcome = outcomeLock.withLock({ outcome }) else { throw InvocationOperationError.cancelled }
      return try outcome.get()
    }
  }

  override func releaseUnrunBlocks() { call = nil }
}

/// Why an ``InvocationOperation`` has no result.
public enum InvocationOperationError: Error, Equatable {
  /// The operation was cancelled before it called its method.
  case cancelled
  /// The operation has not finished: wait for it, or depend on it.
  case notFinished
}

extension InvocationOperationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cancelled: "the operation was cancelled before it called its method"
    case .notFinished: "the operation has not finished; wait for it or depend on it before reading its result"
    }
  }
}
