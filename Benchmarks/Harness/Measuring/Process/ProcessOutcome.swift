import Glibc
import HarnessWords

/// How a process ended.
package enum Ending: Hashable, Sendable {
  case exited(Int32)
  case signalled(Int32)
  case timedOut
  /// The process printed more than this number of bytes, and was killed.
  case printedTooMuch(Int)
  /// The process said that it stops to wait for its turn, and went on beside others.
  case wentOn
  case interrupted
  case notStarted(Int32)

  /// The words for a sentence such as "the process was killed by signal 11".
  package var description: String {
    switch self {
    case .exited(let code): "ended with exit code \(code)"
    case .signalled(let number): "was killed by signal \(number)"
    case .timedOut: "did not finish in time and was killed"
    case .printedTooMuch(let limit): "printed more than \(limit >> 20) MiB and was killed"
    case .wentOn: "said 'turn', did not stop, and was killed"
    case .interrupted: "was interrupted"
    case .notStarted(let error): "could not be started: \(String(cString: strerror(error)))"
    }
  }
}

/// What the kernel counted for a process and for what it had started and waited for.
package struct ProcessUsage: Hashable, Sendable {
  package var cpuSeconds = 0.0
  /// The largest resident memory of one process, in bytes.
  package var peakBytes = 0.0
  package var voluntarySwitches = 0.0
  package var involuntarySwitches = 0.0
  /// The instructions of the program itself, not of the kernel; nil where they cannot be counted.
  package var instructions: Double?

  package init() {}

  init(_ usage: rusage) {
    cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    peakBytes = Double(usage.ru_maxrss) * 1_024
    voluntarySwitches = Double(usage.ru_nvcsw)
    involuntarySwitches = Double(usage.ru_nivcsw)
  }

  /// Adds what another process took.
  package mutating func add(_ other: ProcessUsage) {
    cpuSeconds += other.cpuSeconds
    peakBytes = max(peakBytes, other.peakBytes)
    voluntarySwitches += other.voluntarySwitches
    involuntarySwitches += other.involuntarySwitches
  }

  /// What this process took so far, without its children.
  package static var own: ProcessUsage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return ProcessUsage(usage)
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

/// The outcome of a process.
package struct ProcessOutcome: Sendable {
  package let ending: Ending
  /// The lines that the process wrote to its standard output. There are none when the process printed too much.
  package let lines: [String]
  /// The last line that the process wrote to its standard error, where a trap leaves its message. A long line is cut.
  package let lastWords: String?
  /// How long the process took, without the time in which this process stood still.
  package let nanoseconds: UInt64
  /// How long this process or the one that it waited for stood still, in nanoseconds. The times of such a process are
  /// nobody's.
  package let stoodStill: UInt64
  /// What the process took, with what it had started and waited for.
  package let usage: ProcessUsage
  /// Whether something that the process had started still ran after the process had ended, or held its outputs open.
  /// What was left of its group has been killed.
  package let isOutputHeld: Bool

  package init(
    ending: Ending, lines: [String], lastWords: String?, nanoseconds: UInt64, stoodStill: UInt64 = 0,
    usage: ProcessUsage = ProcessUsage(), isOutputHeld: Bool = false
  ) {
    self.ending = ending
    self.lines = lines
    self.lastWords = lastWords.map { Self.cut(Printable.name($0)) }
    (self.nanoseconds, self.stoodStill) = (nanoseconds, stoodStill)
    (self.usage, self.isOutputHeld) = (usage, isOutputHeld)
  }

  /// Makes a copy of the outcome with other lines.
  package func with(lines: [String]) -> ProcessOutcome {
    ProcessOutcome(
      ending: ending, lines: lines, lastWords: lastWords, nanoseconds: nanoseconds, stoodStill: stoodStill,
      usage: usage, isOutputHeld: isOutputHeld)
  }

  /// What a user should know of the processes that are left; nil when none is known to be left.
  package func leftBehind(by cell: CellKey) -> String? {
    guard isOutputHeld else { return nil }
    return "\(cell): the process has ended, and something that it started went on; what was left of its group was "
      + "killed, and whatever goes on may disturb the numbers from now on"
  }

  /// The beginning of a text that a program has written, short enough for a message of one line.
  private static func cut(_ text: String) -> String {
    guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: 500, limitedBy: text.endIndex),
      end < text.endIndex
    else { return text }
    return text[..<end] + "…"
  }

  /// What a measuring process has answered.
  package var results: [ResultLine] { lines.compactMap(ResultLine.init) }

  /// The reason why a measuring process has failed; nil when the process has given what the mode of its request asks
  /// for.
  package func failure(_ mode: MeasureRequest.Mode) -> String? {
    let results = results
    for case .failure(let message) in results { return Self.cut(message) }
    if results.contains(.absent) { return "the program has no such benchmark" }
    if ending == .exited(0) {
      // A line that is no result has perhaps torn one apart, so the other lines do not count either.
      if let line = lines.first(where: { ResultLine($0) == nil }) {
        return "the process wrote '\(Self.cut(Printable.name(line.replacing("\t", with: " "))))' among its results"
      }
      if results.contains(.end) {
        return results.contains(where: mode.isAnswered(by:)) ? nil : "the process ended without \(mode.wanted)"
      }
    }
    let words = lastWords.map { ", its last words: \($0)" } ?? ""
    return "the process \(ending.description)\(words)"
  }
}

extension MeasureRequest.Mode {
  /// Whether a line is of the kind that the mode asks for.
  fileprivate func isAnswered(by line: ResultLine) -> Bool {
    switch (self, line) {
    case (.calibrate, .repeats), (.time, .reading), (.count, .reading), (.trace, .traced): true
    default: false
    }
  }

  /// The name of what the mode asks for.
  fileprivate var wanted: String {
    switch self {
    case .calibrate: "a number of repeats"
    case .time, .count: "a value"
    case .trace: "a trace"
    }
  }
}
