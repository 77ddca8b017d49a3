import HarnessWords

/// Measures the trial of a measuring process, and writes the results one line at a time.
package struct MeasuringProcess {
  private let trial: Trial
  private let allocator: Allocator
  private let tracer: Tracer?
  private let stop: () -> Void
  private let write: (ResultLine) -> Void

  /// - Parameter stop: stops the process until it is its turn.
  package init(
    _ trial: Trial, allocator: Allocator = .system, tracer: Tracer? = nil, stop: @escaping () -> Void = {},
    write: @escaping (ResultLine) -> Void
  ) {
    (self.trial, self.allocator, self.tracer, self.stop, self.write) = (trial, allocator, tracer, stop, write)
  }

  /// A process gives this number of values, however long they take.
  static let leastValues = 1

  package func run(_ mode: MeasureRequest.Mode) {
    do {
      if let tracer, tracer.isOn() {
        throw CheckFailed("nothing is measured while operations are traced: unset OPERATIONS_TRACE")
      }
      switch mode {
      case .calibrate(let target, let limit, let leadIn):
        write(.repeats(try calibrate(target: target, limit: limit, leadIn: leadIn)))
      case .time(let repeats, let values, let leadIn, let budget, let more, let countsEvents, let takesTurns):
        try checkAllocator()
        try time(repeats: repeats, more: more, values: values, leadIn: leadIn, budget: budget, takesTurns: takesTurns)
        if countsEvents { try countEvents(repeats: max(1, repeats / 4)) }
      case .count(let values): try count(values: values)
      case .trace(let request): try trace(request)
      }
      write(.end)
    } catch {
      write(.failure("\(error)"))
    }
  }

  /// Times count only on the allocator that was asked for.
  private func checkAllocator() throws {
    let isJemalloc = AllocationCounter() != nil
    guard isJemalloc == (allocator == .jemalloc) else {
      throw CheckFailed(
        isJemalloc
          ? "times are not taken on jemalloc unless --allocator asks for it: unset LD_PRELOAD"
          : "jemalloc was asked for and could not be preloaded")
    }
  }

  /// Without turns takes the values one right after the other: whatever comes between two of them puts threads to
  /// sleep, and makes the first repeat of a value dearer than the rest. So no reading is written before the last value.
  private func time(
    repeats: Int, more: Int, values: Int, leadIn: UInt64, budget: UInt64, takesTurns: Bool
  ) throws {
    let born = Clock.now()
    // A lead-in, however short, is at least one value.
    var led: Value?
    if leadIn > 0 { repeat { led = try readValue(repeats) } while Clock.now() - born < leadIn }
    var taken: [(value: Value, repeats: Int)] = []
    taken.reserveCapacity(min(values, 1_024))
    let cost = ProcessCost()
    let counts = trial.schedulerCounts?()
    var untaken = takesTurns ? 0 : try approach(repeats: repeats, after: led)
    var spent: UInt64 = 0
    while taken.count < values, taken.count < Self.leastValues || spent < budget {
      if takesTurns {
        write(.turn)
        stop()
        // Others ran meanwhile: the caches hold theirs, and the threads sleep.
        _ = try readValue(repeats)
        untaken += repeats
      }
      let start = Clock.now()
      let repeats = taken.count.isMultiple(of: 2) ? repeats : repeats + more
      taken.append((try readValue(repeats), repeats))
      spent += Clock.now() - start
    }
    let countsAfter = trial.schedulerCounts?()
    let operations = trial.operationsPerRepeat * taken.reduce(untaken) { $0 + $1.repeats }
    // A benchmark that is about a metric of the process reports its own number for the metric.
    let reported = Set(taken.flatMap(\.value.readings).map(\.metric))
    let costs = cost.readings(operations: operations).filter { !reported.contains($0.metric) }

    var shortest = Double.infinity
    for (index, (value, repeats)) in taken.enumerated() {
      for reading in value.readings {
        write(.reading(valueIndex: index + 1, reading))
        guard reading.metric == .nsPerOp else { continue }
        shortest = min(shortest, reading.value * Double(reading.count) / Double(repeats))
      }
    }
    if let counts, let countsAfter {
      for reading in countsAfter.readings(since: counts, operations: operations) {
        write(.reading(valueIndex: 0, reading))
      }
    }
    for reading in costs { write(.reading(valueIndex: 0, reading)) }
    for series in SampleSeries.merged(taken.flatMap(\.value.samples)) {
      for reading in series.readings() { write(.reading(valueIndex: 0, reading)) }
    }
    if shortest < Self.surelyLong, let empty = try trial.emptyCall?(), shortest < Self.shortCalls * empty {
      write(.tooShort(call: shortest, empty: empty))
    }
  }

  /// Runs one repeat that is in no value: the threads fell asleep while the counts were read. A value of one repeat
  /// takes so long that this does not matter, and a benchmark of samples is not about the time of all repeats.
  /// - Parameter led: the last value of the lead-in; nil without a lead-in.
  /// - Returns: the number of repeats that ran.
  private func approach(repeats: Int, after led: Value?) throws -> Int {
    guard repeats > 1, led?.timed != nil else { return 0 }
    _ = try readValue(1)
    return 1
  }

  /// A call that takes longer than this number of nanoseconds is not compared with an empty one.
  private static let surelyLong = 1_000.0
  /// A call that is shorter than this number of empty calls is mostly loop.
  private static let shortCalls = 2.0

  /// One value, with the benchmark's own readings. They are asked for after each value of the lead-in too, so that what
  /// the benchmark counts from one answer to the next is about one value.
  private func readValue(_ repeats: Int) throws -> Value {
    var value = try trial.measure(repeats)
    if let own = trial.ownReadings { value.readings += try own(trial.operationsPerRepeat * repeats) }
    return value
  }

  /// Takes one more value, whose time does not count: a thread with a counter is slower at every context switch.
  private func countEvents(repeats: Int) throws {
    guard let count = PerfCount() else { return }
    _ = try trial.measure(repeats)
    for reading in count.readings(operations: trial.operationsPerRepeat * repeats) {
      write(.reading(valueIndex: 0, reading))
    }
  }

  /// In a young process the first repeats take several times as long as all later ones. So the process leads in first,
  /// as one that takes times does. What counts is the time that a value would report, and not what the benchmark does
  /// around it.
  private func calibrate(target: UInt64, limit: Int, leadIn: UInt64) throws -> Int {
    let born = Clock.now()
    var led: UInt64
    repeat { led = try timed(1) } while Clock.now() - born < leadIn
    var calibration = Calibration(target: target, limit: limit, led: led)
    while true {
      if let answer = calibration.answer(took: try timed(calibration.repeats)) { return answer }
    }
  }

  /// How long the timed work of some repeats takes, in nanoseconds. A benchmark without a time is timed from outside.
  private func timed(_ repeats: Int) throws -> UInt64 {
    let start = Clock.now()
    if let run = trial.calibrate {
      try run(repeats)
    } else if let timed = try trial.measure(repeats).timed {
      return UInt64(max(0, timed))
    }
    return Clock.now() - start
  }

  /// Runs one repeat that is not recorded, so that threads have been started and memory has been used. Then runs the
  /// repeats that are recorded.
  private func trace(_ request: TraceRequest) throws {
    guard let tracer else { throw CheckFailed("this program cannot trace") }
    _ = try trial.measure(1)
    tracer.start()
    _ = try trial.measure(request.repeats(of: trial))
    tracer.stop()
    let (operations, notShown) = try tracer.write(request)
    write(.traced(operations: operations, notShown: notShown))
  }

  /// The bytes of waiting operations. The bytes are counted before the subject has run anything: a subject that keeps
  /// the memory of finished operations, to use it again, would seem to need no memory for waiting operations.
  private func pendingBytes(
    _ pend: (_ whilePending: () -> Void) throws -> Int, _ counter: AllocationCounter
  ) throws -> Reading {
    let empty = counter.bytesInUse()
    var full = empty
    let pending = try pend { full = counter.bytesInUse() }
    return Reading(.pendingBytesPerOp, Double(full - empty) / Double(pending), count: pending)
  }

  /// The number of repeats in one call of `measure`, so that what the call allocates for its own readings is a small
  /// share.
  private static let countedRepeats = 3

  private func count(values: Int) throws {
    guard let counter = AllocationCounter() else {
      throw CheckFailed("the process that counts allocations has no jemalloc")
    }
    if let pend = trial.pend { write(.reading(valueIndex: 1, try pendingBytes(pend, counter))) }
    _ = try trial.measure(1)
    let operations = trial.operationsPerRepeat * Self.countedRepeats
    let before = counter.bytesInUse()
    func cost(_ work: () throws -> Void) throws -> (requests: Int, bytes: Int) {
      let start = counter.read()
      try work()
      let end = counter.read()
      return (end.requests - start.requests, end.bytes - start.bytes)
    }
    for index in 1...values {
      var idle = (requests: 0, bytes: 0)
      if let loop = trial.idle { idle = try cost(loop) }
      let all = try cost { _ = try trial.measure(Self.countedRepeats) }
      // What a thread frees late may be in one count and not in the other.
      let requests = Double(max(0, all.requests - idle.requests)) / Double(operations)
      let bytes = Double(max(0, all.bytes - idle.bytes)) / Double(operations)
      write(.reading(valueIndex: index, Reading(.allocationsPerOp, requests, count: operations)))
      write(.reading(valueIndex: index, Reading(.bytesPerOp, bytes, count: operations)))
    }
    let kept = try AllocationCounts.Retained.settled(
      calls: values, operationsPerCall: operations, bytes: { counter.bytesInUse() - before },
      callAgain: { _ = try trial.measure(Self.countedRepeats) })
    write(.reading(valueIndex: 0, Reading(.retainedBytesPerOp, kept.bytesPerOp, count: kept.operations)))
  }
}
