import CPlatform
import OperationForks
import OperationJobs

extension LaunchFrame {
  /// Whether the code that runs here is the operation's, and not that of another task which runs in a part of the
  /// operation's body.
  /// - Parameter inFork: whether a fork lies between: a fork of a body has no task where another thread runs the fork.
  func isOfThisTask(inFork: Bool) -> Bool {
    !isPart || inFork
      || Operation.unmanaged(operation)._withUnsafeGuaranteedRef { $0.bodyRun?.isCurrent ?? true }
  }

  /// Whether this thread is running `operation`, at any depth.
  static func isRunning(_ operation: Operation) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
    return isRunning { $0.operation == word }
  }

  /// Whether this thread is running an operation of `queue`, at any depth.
  static func isRunning(operationOf queue: OperationQueue) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    return isRunning { $0.queue == word && $0.operation != 0 }
  }

  @inline(__always)
  private static func isRunning(_ isMeant: (borrowing LaunchFrame) -> Bool) -> Bool {
    var (frame, inFork) = (current, false)
    while let here = frame {
      if here.pointee.isFork { inFork = true }
      if isMeant(here.pointee), here.pointee.isOfThisTask(inFork: inFork) { return true }
      frame = here.pointee.previous
    }
    return false
  }
}
