import Glibc

/// The threads of this process, as the kernel lists them.
package enum Threads {
  package static func all() -> Set<Int32> { Set(ProcessCost.threads()) }

  /// The identifier of the calling thread. Swift's Glibc does not import `gettid`, but the kernel has a link to
  /// `<process>/task/<thread>`.
  private static var current: Int32? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      let length = readlink("/proc/thread-self", text.baseAddress!, text.count)
      guard length > 0 else { return nil }
      let path = String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return path.split(separator: "/").last.flatMap { Int32($0) }
    }
  }

  /// Waits until every thread sleeps in the kernel, apart from the calling thread and the threads in `others`; false
  /// when the threads do not all sleep in time.
  package static func waitUntilAsleep(except others: Set<Int32>, nanoseconds: UInt64) -> Bool {
    let deadline = Clock.now() + nanoseconds
    let own = current
    while true {
      if all().allSatisfy({ $0 == own || others.contains($0) || isAsleep($0) }) { return true }
      guard Clock.now() < deadline else { return false }
      Pacer.sleep(nanoseconds: 20_000)
    }
  }

  /// The state is behind the name, and the name may itself hold parentheses. A thread that has ended counts as asleep.
  private static func isAsleep(_ thread: Int32) -> Bool {
    let file = open("/proc/self/task/\(thread)/stat", O_RDONLY)
    guard file >= 0 else { return true }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { text in
      let length = read(file, text.baseAddress, 256)
      guard length > 0, let end = text[..<length].lastIndex(of: UInt8(ascii: ")")), end + 2 < length else {
        return true
      }
      return text[end + 2] != UInt8(ascii: "R")
    }
  }
}
