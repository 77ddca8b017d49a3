import OperationJobs
import Primitives

/// One thread that drains a backend's jobs: a call that Dispatch makes, or a thread of the backend's own.
final class Callout: PoolMember {
  let watched = WatchedThread()
}
