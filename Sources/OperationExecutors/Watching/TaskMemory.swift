import CPlatform

/// What the memory of a task says, as Swift's runtime lays it out for debuggers. A copy: the task may go on, or end,
/// while somebody looks. The indices count words of eight bytes; `README.md` of this module has the layout.
struct TaskMemory {
  enum Dependency: Equatable {
    /// The number of the other task.
    case task(UInt64)
    case continuation
    case children
    /// The executor's object, and the word that says how to call it: 0 for a default actor, or for any executor.
    case executor(UInt, UInt)
  }

  private enum Flags {
    static let isChild: UInt = 1 << 24
    static let isAsyncLet: UInt = 1 << 28
  }

  private enum Status {
    static let priority: UInt = 0xFF
    static let cancelled: UInt = 0x100
    static let running: UInt = 0x800
    static let complete: UInt = 0x2000
    static let depends: UInt = 0x4000
    static let all: UInt = 0xFFFF
  }

  let number: UInt64
  let priority: UInt8
  let isRunning: Bool
  let isCancelled: Bool
  let name: String?
  let dependency: Dependency?
  /// The address of the task that this one is a child of.
  let parent: UInt?
  /// Where the task goes on: its function, and those that await that one.
  let functions: [UInt]
  /// The function of a task that has not begun; else anything.
  let entry: UInt?

  /// - Returns: nil where the task has ended, another one has its memory, or the runtime is another one.
  init?(_ address: UInt, number: UInt64) {
    // A task that changes meanwhile is looked at again, some times.
    for _ in 0..<8 {
      guard let words = Self.words(address, number) else { return nil }
      let status = words[12]
      // The task is between the two, or its memory is something else by now.
      guard (status & Status.depends != 0) == (words[20] != 0) else { continue }
      let records = Self.records(from: words[13], depends: status & Status.depends != 0)
      let functions = Self.functions(words)
      guard let after = Self.words(address, number), after[12] == status, after[13] == words[13] else { continue }
      self.number = number
      priority = UInt8(truncatingIfNeeded: status)
      isRunning = status & Status.running != 0
      isCancelled = status & Status.cancelled != 0
      (name, dependency) = records
      parent = words[4] & Flags.isChild != 0 ? words[26] : nil
      (self.functions, entry) = functions
      return
    }
    return nil
  }

  /// Whether the task has not ended.
  static func isAlive(_ address: UInt, number: UInt64) -> Bool { words(address, number) != nil }

  /// The words of the task with this number; nil where it has ended.
  private static func words(_ address: UInt, _ number: UInt64) -> [UInt]? {
    guard let words = words(address), self.number(words) == number else { return nil }
    return words
  }

  /// The words of a task that has not ended; nil where the memory is no such task's.
  private static func words(_ address: UInt) -> [UInt]? {
    let metadata = cplatform_task_metadata()
    guard metadata != 0, let words = read(address, 27), words[0] == metadata else { return nil }
    // What was freed may keep its beginning for long.
    let status = words[12]
    guard status & ~Status.all == 0, status & Status.complete == 0, priorities.contains(status & Status.priority),
      priorities.contains(words[19]), words[6] == 0,
      words[4] & Flags.isAsyncLet == 0 || isListed(address, by: words[26])
    else { return nil }
    return words
  }

  /// The raw values of priorities.
  private static let priorities: ClosedRange<UInt> = 1...0x21

  /// Whether a task may have this child by `async let`. Such a child lies in the memory of its parent, which is used
  /// for other things when the child has ended. A parent that changes meanwhile may have it.
  private static func isListed(_ child: UInt, by parent: UInt) -> Bool {
    // Only what the parent is: whether it is there would be asked of its own parent, and so on.
    guard let before = read(parent, 14), before[0] == cplatform_task_metadata(), before[12] & Status.complete == 0
    else { return false }
    var record = before[13]
    for _ in 0..<mostRecords where record != 0 {
      guard let words = read(record, 3) else { break }
      if words[0] & 0xFF == 1, words[2] == child { return true }
      record = words[1]
    }
    guard let after = read(parent, 14) else { return false }
    return record != 0 || after[12] != before[12] || after[13] != before[13]
  }

  private static let mostRecords = 1024

  private static func number(_ words: [UInt]) -> UInt64 {
    UInt64(words[4] >> 32) | UInt64(words[18] & 0xFFFF_FFFF) << 32
  }

  static func number(at address: UInt) -> UInt64? { words(address).map(number) }

  /// The name, and what the task waits for.
  private static func records(from first: UInt, depends: Bool) -> (name: String?, dependency: Dependency?) {
    var found: (name: String?, dependency: Dependency?) = (nil, nil)
    var record = first
    for _ in 0..<mostRecords where record != 0 {
      guard let words = read(record, 6) else { break }
      switch words[0] & 0xFF {
      case 0 where depends && found.dependency == nil: found.dependency = dependency(words)
      case 6 where found.name == nil: found.name = string(at: words[2])
      default: break
      }
      record = words[1]
    }
    return found
  }

  private static func dependency(_ record: [UInt]) -> Dependency? {
    switch record[4] & 0xFFFF_FFFF {
    case 1: number(at: record[2]).map { .task($0) }
    case 2: .continuation
    case 3: .children
    case 4: .executor(record[2], record[3])
    default: nil
    }
  }

  /// A task's own function, and then the chain of its contexts: each holds the next one, and the function that goes on
  /// there. A task that has not begun has its function before its first context.
  private static func functions(_ words: [UInt]) -> (chain: [UInt], entry: UInt?) {
    var functions = [words[7]]
    var context = words[8]
    for _ in 0..<32 where context != 0 {
      guard let link = read(context, 2) else { break }
      functions.append(link[1])
      context = link[0]
    }
    return (functions, read(words[8] &- 24, 1)?[0])
  }

  static func read(_ address: UInt, _ count: Int) -> [UInt]? {
    let words = [UInt](unsafeUninitializedCapacity: count) { buffer, initialized in
      let size = count * MemoryLayout<UInt>.size
      initialized = buffer.baseAddress.map { cplatform_read_memory(address, $0, size) } == true ? count : 0
    }
    return words.isEmpty ? nil : words
  }

  /// At most 255 bytes. Behind the end of a page there may be no memory.
  private static func string(at address: UInt) -> String {
    var bytes: [UInt8] = []
    while bytes.count < 255, !bytes.contains(0) {
      let next = address &+ UInt(bytes.count)
      let size = min(255 - bytes.count, 4096 - Int(next % 4096))
      var part = [UInt8](repeating: 0, count: size)
      guard cplatform_read_memory(next, &part, size) else { break }
      bytes += part
    }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
