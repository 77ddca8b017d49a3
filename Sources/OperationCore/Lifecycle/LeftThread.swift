import CPlatform
import OperationJobs
import Primitives

/// Called when a body ends its thread instead of returning: with `pthread_exit`, Foundation's `Thread.exit()`, or
/// `pthread_cancel` from elsewhere. The thread and the operation would be lost without a word, and with them all that
/// waits for either.
///
/// The stack is cut back already. The frame still lies where it was, and the thread that was to give the operation's
/// reference back never will: the operation is alive.
@_documentation(visibility: internal)
@c(operations_thread_left)
public func operationsThreadLeft(_ word: UnsafeRawPointer?) {
  let reason = "ended its thread with pthread_exit, Thread.exit() or pthread_cancel; a body must return"
  var innermost = UnsafeMutableRawPointer(mutating: word)?.assumingMemoryBound(to: LaunchFrame.self)
  while let here = innermost, here.pointee.isFork { innermost = here.pointee.previous }
  guard let frame = innermost?.pointee else { fatalError("Operations: a job \(reason)") }
  guard frame.operation != 0 else { fatalError("Operations: a completion block \(reason)") }
  misuse(Operation.retained(frame.operation), "the body \(reason)")
}
