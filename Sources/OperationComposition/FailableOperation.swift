import Operations

/// An operation that may fail: it can say which error it ended with.
///
/// `TaskOperation` and `InvocationOperation` are such operations. A class of yours that stores an error conforms too:
///
/// ```swift
/// import OperationComposition
/// import Operations
/// import Synchronization
///
/// final class Parse: Operation, FailableOperation, @unchecked Sendable {
///   // Sendable: the error lies in a lock.
///   private let stored = Mutex<(any Error)?>(nil)
///   var failure: (any Error)? { stored.withLock { $0 } }
///
///   override func main() { stored.withLock { $0 = CancellationError() } }
/// }
/// ```
public protocol FailableOperation: Operation {
  /// The error that the operation ended with; nil before the end, and when it did not fail. `ObservedOperationQueue`
  /// reads it behind the finish, on the thread that posts the finish: so it must not take a lock that the class holds
  /// while it posts.
  var failure: (any Error)? { get }
}

/// An operation whose asynchronous body may throw.
extension TaskOperation: FailableOperation {
  /// What the body threw; nil before the operation has finished, when the body returned, and when it never ran.
  public var failure: (any Error)? {
    if case .failure(let error) = result { error } else { nil }
  }
}

/// An operation whose method may throw.
extension InvocationOperation: FailableOperation {
  /// What the method threw; nil before the operation has finished, when the method returned, and when it was never
  /// called.
  public var failure: (any Error)? {
    guard isFinished else { return nil }
    do {
      _ = try result
      return nil
    } catch is InvocationOperationError {
      return nil
    } catch {
      return error
    }
  }
}

/// How an operation ended.
public enum OperationOutcome: Sendable {
  /// The operation ran to its end, as far as is known.
  case succeeded
  /// The operation ended with an error.
  case failed(any Error)
  /// The operation was cancelled, and did not fail otherwise.
  case cancelled

  init(failure: (any Error)?, isCancelled: Bool) {
    if let failure, !(isCancelled && failure is CancellationError) {
      self = .failed(failure)
    } else {
      self = isCancelled ? .cancelled : .succeeded
    }
  }
}
