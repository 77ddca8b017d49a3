import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// A load as a user describes it in a file: a line `word = value` for each fact, and comments behind `#`.
///
/// ```
/// rate = 2000                  # requests per second
/// service = exponential 400us  # or fixed, bimodal, pareto; or: file times.csv
/// arrivals = poisson           # or bursts, fixed
/// urgent = 10 % 200us          # the share of urgent requests, and how long one takes
/// deadline = 2ms               # of urgent requests
/// blocks = 5 % 20ms            # the share of requests that sleep, and for how long
/// tail = 10ms                  # what 999 of 1,000 requests are to stay below
/// cpus = 2
/// ```
/// `rate` and `service` are needed.
package struct LoadDescription: Sendable {
  /// The name of the file, without its ending.
  package let name: String
  /// Requests per second.
  package let rate: Double
  package let service: Service
  let arrivals: ArrivalSchedule.Spacing
  /// The share of urgent requests, and how long one takes. All times are in nanoseconds.
  package let urgent: Share?
  package let deadline: Double?
  /// The share of requests that sleep, and for how long.
  package let blocking: Share?
  /// More than one in a thousand requests that take longer are too many.
  package let tail: Double
  /// Nil: those that the process may use.
  package let cpus: Int?

  package struct Share: Sendable, Equatable {
    package let share: Double
    package let time: Double
  }

  /// How long the requests that are not urgent use a CPU.
  package enum Service: Sendable, Equatable {
    case drawn(ServiceTimes, mean: Double)
    /// Times that were measured, in nanoseconds. A request takes one of them by chance.
    case measured([Double])

    package var mean: Double {
      switch self {
      case .drawn(_, let mean): mean
      case .measured(let times): times.reduce(0, +) / Double(times.count)
      }
    }
  }

  /// How long a request uses a CPU on average.
  package var meanService: Double {
    guard let urgent else { return service.mean }
    return urgent.share * urgent.time + (1 - urgent.share) * service.mean
  }

  /// The share of the CPUs' time that the requests take.
  package func load(cpus: Int) -> Double { rate * meanService / 1e9 / Double(cpus) }

  /// Reads a file. Throws one line that names the file and the line in it.
  package static func read(path: String) throws -> LoadDescription {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let folder = path.contains("/") ? String(path[...path.lastIndex(of: "/")!]) : ""
    let name = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    return try LoadDescription(try text(path, what: "load"), name: name, source: path) {
      try Self.times($0.hasPrefix("/") ? $0 : folder + $0)
    }
  }

  private static func text(_ path: String, what: String) throws -> String {
    String(decoding: try InputFile.read(path, what: what), as: UTF8.self)
  }

  /// The fewest measured times that say anything about tails.
  private static let fewestTimes = 100

  /// Measured times: a number of microseconds in the first column of each line. The first line may be a heading.
  static func times(_ path: String) throws -> [Double] {
    var times: [Double] = []
    for (number, line) in try text(path, what: "trace").split(whereSeparator: \.isNewline).enumerated() {
      let cell = line.prefix { $0 != "," && $0 != ";" }.trimmed
      guard let time = Double(cell), time > 0, time <= longestTime / 1e3 else {
        if number == 0, Double(cell) == nil { continue }
        throw Complaint(
          .badInput, "\(path): line \(number + 1) begins with '\(cell)', not with a time in microseconds up to a minute"
        )
      }
      times.append(time * 1e3)
    }
    guard times.count >= fewestTimes else {
      throw Complaint(
        .badInput, "\(path): \(Count.of(times.count, "time")); a trace has \(fewestTimes) service times or more")
    }
    return times
  }

  /// A minute.
  private static let longestTime = 60e9

  private static let words = ["rate", "service", "arrivals", "urgent", "deadline", "blocks", "tail", "cpus"]

  /// - Parameter times: reads a trace.
  init(_ text: String, name: String, source: String, times: (String) throws -> [Double]) throws {
    var values: [String: String] = [:]
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let content = line.prefix { $0 != "#" }
      if content.trimmed.isEmpty { continue }
      func wrong(_ what: String) -> Complaint { Complaint(.badInput, "\(source): line \(number + 1): \(what)") }
      guard let equals = content.firstIndex(of: "=") else {
        throw wrong("'\(content.trimmed)' has no '='; a line is 'word = value'")
      }
      let word = content[..<equals].trimmed
      guard Self.words.contains(word) else {
        throw wrong(
          "there is no word '\(word)'\(Suggestion.words(for: word, among: Self.words))")
      }
      let value = content[content.index(after: equals)...].trimmed
      guard values.updateValue(value, forKey: word) == nil else { throw wrong("'\(word)' stands twice") }
    }
    func value<Value>(_ word: String, _ right: String, _ read: (String) throws -> Value?) throws -> Value? {
      guard let text = values[word] else { return nil }
      guard let value = try read(text) else {
        throw Complaint(.badInput, "\(source): \(word) is \(right), not '\(text)'")
      }
      return value
    }
    func needed<Value>(_ word: String, _ right: String, _ read: (String) throws -> Value?) throws -> Value {
      guard let value = try value(word, right, read) else {
        throw Complaint(.badInput, "\(source): '\(word)' is missing: \(right)")
      }
      return value
    }
    let shareOfTime = "a share and a time, such as '10 % 200us'"
    self.name = name
    rate = try needed("rate", "the requests per second, above 0 and up to a million") {
      Double($0).flatMap { $0 > 0 && $0 <= 1e6 ? $0 : nil }
    }
    service = try needed("service", "a distribution and its mean, such as 'exponential 400us', or 'file times.csv'") {
      try Self.service($0, times)
    }
    arrivals =
      try value("arrivals", Arrivals.allCases.map(\.rawValue).joined(separator: ", ")) {
        Arrivals(rawValue: $0)?.spacing
      } ?? .exponential
    urgent = try value("urgent", shareOfTime, Self.share)
    deadline = try value("deadline", "a time, such as 2ms", Self.time)
    blocking = try value("blocks", shareOfTime, Self.share)
    cpus = try value("cpus", "a count from 1 to 1024") { Int($0).flatMap { 1...1_024 ~= $0 ? $0 : nil } }
    let given = try value("tail", "a time, such as 10ms", Self.time)
    if deadline != nil, urgent == nil {
      throw Complaint(.badInput, "\(source): 'deadline' needs 'urgent': a deadline is that of urgent requests")
    }
    let mean = [service.mean, urgent?.time, blocking?.time].compactMap(\.self).max()!
    tail = given ?? ServiceLevel.slowdown * mean
  }

  private enum Arrivals: String, CaseIterable {
    case poisson, bursts, fixed

    var spacing: ArrivalSchedule.Spacing {
      switch self {
      case .poisson: .exponential
      case .bursts: .bursts
      case .fixed: .fixed
      }
    }
  }

  private static func service(_ text: String, _ times: (String) throws -> [Double]) throws -> Service? {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return nil }
    if words[0] == "file" { return .measured(try times(words[1])) }
    guard let distribution = ServiceTimes(rawValue: words[0]), let mean = time(words[1]) else { return nil }
    return .drawn(distribution, mean: mean)
  }

  /// Such as `10 % 200us` and `10% 200us`. A share is above 0 and below 100 %.
  private static func share(_ text: String) -> Share? {
    let parts = text.split(separator: "%", omittingEmptySubsequences: false).map(\.trimmed)
    guard parts.count == 2, let percent = Double(parts[0]), percent > 0, percent < 100, let time = time(parts[1]) else {
      return nil
    }
    return Share(share: percent / 100, time: time)
  }

  /// From 100 ns on: a CPU cannot be busy for less in a way that counts.
  private static func time(_ text: String) -> Double? {
    TimeText.nanoseconds(text).flatMap { 100...longestTime ~= $0 ? $0 : nil }
  }
}

extension LoadDescription {
  /// What is done about the requests that are not urgent, or about those that block.
  package enum Way: String, CaseIterable, Sendable {
    /// Nothing.
    case plain
    /// Requests that are not urgent have a low priority.
    case urgentFirst = "urgent-first"
    /// They also never have the last of the workers.
    case urgentKept = "urgent-kept"
    /// At most twice as many requests as workers are begun at a time.
    case limited
  }

  /// The ways that mean something for this load.
  package var ways: [Way] {
    [.plain] + (urgent == nil ? [] : [.urgentFirst, .urgentKept]) + (blocking == nil ? [] : [.limited])
  }

  /// How often the described rate a load may be.
  private static let factors = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16]

  /// From this share of the CPUs on no load is tried: the queue of an ideal scheduler would grow as well.
  package static let mostLoad = 0.95

  /// The loads that are tried, as multiples of the rate: the described one, a lower one, and up to three higher ones.
  package func factors(cpus: Int) -> [Double] {
    let possible = Self.factors.filter { $0 * load(cpus: cpus) <= Self.mostLoad }
    return possible.filter { $0 < 1 }.suffix(1) + possible.filter { $0 >= 1 }.prefix(4)
  }

  /// How many requests a process sends: those of a second at the described rate, but some hundred at the least. With
  /// fewer than a thousand, one late request is too many.
  package var requests: Int { Int(min(10_000, max(300, rate))) }

  /// The requests, drawn from the seed, and which of them are urgent.
  func stream(seed: UInt64) -> (stream: RequestStream, isUrgent: [Bool]) {
    var random = SeededGenerator(seed: seed, purpose: "requests")
    func isChosen(_ share: Share?) -> Bool {
      share.map { Double.random(in: 0..<1, using: &random) < $0.share } ?? false
    }
    let isUrgent = (0..<requests).map { _ in isChosen(urgent) }
    let sleeps = (0..<requests).map { _ in isChosen(blocking) ? blocking!.time : 0 }
    let drawn: [Double] =
      switch service {
      case .drawn(let distribution, let mean): distribution.times(requests, mean: mean, seed: seed)
      case .measured(let times): (0..<requests).map { _ in times.randomElement(using: &random)! }
      }
    let services = zip(isUrgent, drawn).map { $0 ? urgent!.time : $1 }
    return (
      RequestStream(
        services: services, sleeps: sleeps, isLessUrgent: isUrgent.map { urgent != nil && !$0 }, spacing: arrivals,
        seed: seed), isUrgent
    )
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
