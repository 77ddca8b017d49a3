import CPlatform

/// What the library calls where something happens, behind `if cplatform_is_tracing()`. That load and its branch are all
/// that a probe costs when nothing is traced, so the rest is never inlined. The probes of operations stand in the core.
package enum TraceProbe {
  package static func record(
    _ kind: TraceEvent.Kind, _ subject: UInt = 0, detail: UInt = 0, value: UInt32 = 0
  ) {
    TraceSession.ownBuffer().append(
      TraceEvent(kind, at: cplatform_now_ns(), subject, detail: detail, value: value))
  }

  /// Runs a fork that another thread made inside of an operation, or outside of all.
  @inline(never)
  package static func fork(of operation: UInt, _ body: () -> Void) {
    record(.forkBegins, operation)
    body()
    if cplatform_is_tracing() { record(.forkEnds) }
  }

  /// Runs a node of a graph.
  @inline(never)
  package static func node(_ name: String, of operation: UInt, _ body: () -> Void) {
    TraceSession.ownBuffer().append(TraceEvent(.nodeBegins, at: cplatform_now_ns(), operation), name: name)
    body()
    if cplatform_is_tracing() { record(.nodeEnds) }
  }

  /// Runs a later part of an operation with an asynchronous body: from a resumption to the next suspension.
  @inline(never)
  package static func part(of operation: UInt, _ body: () -> Void) {
    record(.partBegins, operation)
    body()
    guard cplatform_is_tracing() else { return }
    let buffer = TraceSession.ownBuffer()
    buffer.append(TraceEvent(.partEnds, at: cplatform_now_ns(), 0))
    // A finish in the part was noted for a `start()` that is not there.
    buffer.finishedHere = 0
  }

  // MARK: - Backends

  /// A job was taken from another worker.
  @inline(never)
  package static func steals(_ job: UInt, from thread: Int32) {
    record(.steals, job, value: UInt32(bitPattern: thread))
  }

  /// The calling worker has found no job and goes to sleep.
  @inline(never)
  package static func parks() { record(.parks) }

  @inline(never)
  package static func unparks() { record(.unparks) }

  /// Called before a sleeping worker is woken.
  @inline(never)
  package static func wakes(_ thread: Int32) { record(.wakes, value: UInt32(bitPattern: thread)) }

  /// - Parameter isSpare: whether the worker is beyond the backend's number of workers, because others block.
  @inline(never)
  package static func threadBegins(isSpare: Bool) { record(.threadBegins, value: isSpare ? 1 : 0) }

  @inline(never)
  package static func threadEnds() { record(.threadEnds) }

  /// Workers beyond the backend's number may run from now on.
  @inline(never)
  package static func addsSpares(_ count: Int) { record(.addsSpares, value: UInt32(clamping: count)) }

  @inline(never)
  package static func calloutBegins() { record(.calloutBegins) }

  @inline(never)
  package static func calloutEnds() { record(.calloutEnds) }
}
