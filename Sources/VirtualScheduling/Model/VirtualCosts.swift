/// What the steps of a pool cost, in nanoseconds of virtual time.
///
/// With all costs 0, which is `none`, a pool takes no time of its own: every step of a schedule is due at once, and
/// `VirtualChoices` decides the order. Searches then take no time either. That is what the deterministic backend uses.
package struct VirtualCosts: Hashable, Sendable {
  /// A cost that grows with the distance between two workers.
  package struct ByDistance: Hashable, Sendable {
    /// Between workers of one group of CPUs.
    package var sameGroup: Int64
    /// Between groups of one socket.
    package var otherGroup: Int64
    /// Between sockets.
    package var otherSocket: Int64

    package init(_ sameGroup: Int64, otherGroup: Int64? = nil, otherSocket: Int64? = nil) {
      self.sameGroup = sameGroup
      self.otherGroup = otherGroup ?? sameGroup
      self.otherSocket = otherSocket ?? self.otherGroup
    }

    package subscript(distance: VirtualTopology.Distance) -> Int64 {
      switch distance {
      case .none: 0
      case .sameGroup: sameGroup
      case .otherGroup: otherGroup
      case .otherSocket: otherSocket
      }
    }
  }

  /// A job: what its worker does for it besides running its body.
  package var operation: Int64 = 0
  /// A dependency that the end of a job resolves.
  package var edge: Int64 = 0
  /// A worker adds a job to a list.
  package var add: Int64 = 0
  /// A worker takes a job from its own list, or from the list that all share.
  package var take: Int64 = 0
  /// A look at a list of another worker that gives no job.
  package var look: Int64 = 0
  /// A worker takes a job from another worker, besides the time until the end of the list has come over.
  package var steal = ByDistance(0)
  /// Each further job that is moved together with a taken one.
  package var move: Int64 = 0
  /// A thread outside of the pool submits a job. The thread pays, not a worker.
  package var submit: Int64 = 0
  /// A worker takes a job from the lists for jobs from outside.
  package var takeOutside: Int64 = 0
  /// How long one access to a list keeps others from the list, besides the time until its lines have come over.
  package var list: Int64 = 0
  /// A cache line comes over from another CPU. CPUs that want the same line wait for each other: each has its turn.
  package var transfer = ByDistance(0)
  /// A look at a worker whose list has changed since the last look. A CPU has several such lines on their way at a
  /// time.
  package var glance = ByDistance(0)
  /// To wake a thread: paid by the thread that wakes it.
  package var wake: Int64 = 0
  /// From the wake until the woken thread runs.
  package var wakeLatency: Int64 = 0
  /// A job was made ready by one CPU and runs on another, so its data is far away.
  package var miss = ByDistance(0)

  /// All costs 0.
  package init() {}

  /// All costs 0.
  package static let none = VirtualCosts()
}
