import CMeasure
import Glibc

/// An event that the kernel or the CPU counts, if this machine has the counter and lets this process use the counter.
struct PerfEvent: Sendable {
  let metric: Metric
  /// `PERF_TYPE_HARDWARE` or `PERF_TYPE_SOFTWARE`.
  let type: UInt32
  let config: UInt64

  static let instructions = PerfEvent(metric: .instructionsPerOp, type: 0, config: 1)
  static let hardware = [
    instructions, PerfEvent(metric: .cyclesPerOp, type: 0, config: 0),
  ]
  static let software = [
    PerfEvent(metric: .contextSwitchesPerOp, type: 1, config: 3),
    PerfEvent(metric: .migrationsPerOp, type: 1, config: 4),
    PerfEvent(metric: .pageFaultsPerOp, type: 1, config: 2),
  ]
  static let all = hardware + software

  /// Counts for a thread and for the threads that the thread creates from now on; gives the error number when the
  /// kernel refuses. Hardware events count the program alone, which needs no privilege. Software events happen inside
  /// the kernel.
  func open(_ thread: pid_t) -> Result<CInt, PerfRefusal> {
    let descriptor = opbench_perf_open(type, config, thread, type == 0 ? 1 : 0)
    return descriptor < 0 ? .failure(PerfRefusal(code: errno)) : .success(descriptor)
  }
}

struct PerfRefusal: Error, CustomStringConvertible {
  let code: CInt

  var description: String {
    switch code {
    case ENOENT, ENODEV, EOPNOTSUPP: "this machine has no such counter"
    case EACCES, EPERM: "this user may not count them; sysctl kernel.perf_event_paranoid=1 allows it"
    case ENOSYS: "this kernel has no counters"
    default: String(cString: strerror(code))
    }
  }
}

/// Counts events in all threads of this process from now on, also in threads that are created later.
struct PerfCount {
  private let counters: [(event: PerfEvent, descriptors: [CInt])]

  /// Nil when no counter could be opened.
  init?() {
    let threads = ProcessCost.threads()
    counters = PerfEvent.all.compactMap { event in
      var descriptors: [CInt] = []
      for thread in threads {
        switch event.open(thread) {
        case .success(let descriptor): descriptors.append(descriptor)
        // The thread has ended since the threads were listed, and needs no counter.
        case .failure(let refusal) where refusal.code == ESRCH: continue
        // A thread without a counter would make the sum too small.
        case .failure:
          for descriptor in descriptors { close(descriptor) }
          return nil
        }
      }
      guard !descriptors.isEmpty else { return nil }
      return (event, descriptors)
    }
    if counters.isEmpty { return nil }
  }

  /// Reads the counters and ends the counting.
  func readings(operations: Int) -> [Reading] {
    counters.compactMap { event, descriptors in
      let counts = descriptors.map(Self.read)
      for descriptor in descriptors { close(descriptor) }
      guard operations > 0, !counts.contains(nil) else { return nil }
      let total = counts.reduce(0) { $0 + ($1 ?? 0) }
      return Reading(event.metric, total / Double(operations), count: operations)
    }
  }

  /// The count. The count is scaled up when the CPU had too few counters and this counter was in use for part of the
  /// time.
  static func read(_ descriptor: CInt) -> Double? {
    var words: (count: UInt64, enabled: UInt64, running: UInt64) = (0, 0, 0)
    let size = MemoryLayout.size(ofValue: words)
    guard Glibc.read(descriptor, &words, size) == size else { return nil }
    guard words.running > 0 else { return words.count == 0 ? 0 : nil }
    return Double(words.count) * Double(words.enabled) / Double(words.running)
  }
}

/// The counters that this machine lets the laboratory use.
package struct PerfAvailability: Codable, Hashable, Sendable {
  /// "available", or the reason why not.
  package let hardware: String
  package let software: String

  /// Tries one event of each kind.
  package init() {
    hardware = Self.tryOut(PerfEvent.hardware[0])
    software = Self.tryOut(PerfEvent.software[0])
  }

  private static func tryOut(_ event: PerfEvent) -> String {
    switch event.open(0) {
    case .success(let descriptor):
      close(descriptor)
      return "available"
    case .failure(let refusal): return "not available: \(refusal)"
    }
  }

  /// One line about metrics that stay empty; nil when no metric stays empty.
  package var advice: String? {
    let missing = [("hardware", hardware, PerfEvent.hardware), ("software", software, PerfEvent.software)].filter {
      $0.1 != "available"
    }
    guard !missing.isEmpty else { return nil }
    return missing.map { kind, reason, events in
      "\(events.map(\.metric.name).joined(separator: ", ")) stay empty: \(kind) events are \(reason)"
    }.joined(separator: "; ")
  }
}
