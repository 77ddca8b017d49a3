import Glibc

/// How a process ended.
package enum Ending: Hashable, Sendable {
  case exited(Int32)
  case signalled(Int32)
  case timedOut
  case interrupted
  case notStarted(Int32)

  /// The words for a sentence such as "the process was killed by signal 11".
  package var description: String {
    switch self {
    case .exited(let code): "ended with exit code \(code)"
    case .signalled(let number): "was killed by signal \(number)"
    case .timedOut: "did not finish in time and was killed"
    case .interrupted: "was interrupted"
    case .notStarted(let error): "could not be started: \(String(cString: strerror(error)))"
    }
  }
}

/// The outcome of a process.
package struct ProcessOutcome: Sendable {
  package let ending: Ending
  /// The lines that the process wrote to its standard output.
  package let lines: [String]
  /// The last line that the process wrote to its standard error, where a trap leaves its message.
  package let lastWords: String?
  package let nanoseconds: UInt64
  /// The CPU time of all threads of the process.
  package let cpuSeconds: Double

  package init(
    ending: Ending, lines: [String], lastWords: String?, nanoseconds: UInt64, cpuSeconds: Double = 0
  ) {
    self.ending = ending
    self.lines = lines
    self.lastWords = lastWords
    self.nanoseconds = nanoseconds
    self.cpuSeconds = cpuSeconds
  }

  /// The reason why a measuring process that wrote these lines has failed; nil when the process has not failed.
  func failure(_ lines: [ResultLine]) -> String? {
    for case .failure(let message) in lines { return message }
    if lines.contains(.absent) { return "the program has no such benchmark" }
    if ending == .exited(0), lines.contains(.end) { return nil }
    let words = lastWords.map { ", its last words: \($0)" } ?? ""
    return "the process \(ending.description)\(words)"
  }
}
