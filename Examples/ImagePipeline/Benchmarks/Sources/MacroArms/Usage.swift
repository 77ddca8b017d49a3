#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the process used between two moments.
public struct Usage: Sendable {
  /// Of all threads, in seconds.
  public var cpu = 0.0
  /// How often a thread slept and was woken.
  public var wakeUps = 0
  /// The most memory that was resident at one time, in bytes. 0 where the system does not tell.
  public var peakMemory = 0

  /// Forgets the peak of the memory, and reads the counters.
  static func begin() -> Usage {
    if let file = fopen("/proc/self/clear_refs", "w") {
      fputs("5", file)
      fclose(file)
    }
    return now()
  }

  /// The difference to now.
  func end() -> Usage {
    let now = Self.now()
    return Usage(cpu: now.cpu - cpu, wakeUps: now.wakeUps - wakeUps, peakMemory: now.peakMemory)
  }

  static func threads() -> Int { status("Threads:") }

  private static func now() -> Usage {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return Usage(
      cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), wakeUps: Int(usage.ru_nvcsw),
      peakMemory: status("VmHWM:") * 1_024)
  }

  /// A number of `/proc/self/status`; 0 where there is none.
  private static func status(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix(name) { return Int(text.dropFirst(name.count).filter(\.isNumber)) ?? 0 }
    }
    return 0
  }
}
