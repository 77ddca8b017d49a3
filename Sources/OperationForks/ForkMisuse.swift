import OperationJobs
import Primitives

/// Traps because a loop or a scope was misused; the message names the operation, when there is one.
@usableFromInline
package func forkMisuse(_ reason: String) -> Never {
  let operation = LaunchFrame.operation(at: LaunchFrame.current)
  if operation != 0 { misuse("\(JobObject.object(operation).takeUnretainedValue())", reason) }
  fatalError("Operations: \(reason)")
}
