import HarnessPlanning
import HarnessWords

/// Reads the number behind an option. The complaint about another text says what the option takes.
///
/// The options that use this type are parsed as `.unconditional`. A negative number would otherwise be taken for
/// another option, and the complaint would be of a missing value.
package enum OptionNumber {
  /// The part of the parser's complaint that says what would be right.
  struct Wanted: Error, CustomStringConvertible {
    let description: String
  }

  /// The counts that options for blocks and values take.
  package static let efforts = 1...1_000

  package static func count(in range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { text in
      guard let count = Int(text), range.contains(count) else {
        throw Wanted(description: "it takes a count from \(range.lowerBound) to \(range.upperBound)")
      }
      return count
    }
  }

  /// Worker counts such as 1,2,4, each once, in the given order.
  package static func workerCounts(_ list: String, option: String = "--workers") throws -> [Int] {
    let counts = list.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    guard let all = counts as? [Int], all.allSatisfy({ 1...1_024 ~= $0 }) else {
      throw Complaint(.usage, "\(option) takes counts from 1 to 1024, such as 1,2,4; not '\(list)'")
    }
    return all.enumerated().filter { !all[..<$0].contains($1) }.map(\.element)
  }

  /// A shard such as 3/20.
  package static func shard(_ text: String) throws -> Shard {
    guard let shard = Shard(text) else {
      throw Wanted(description: "it takes K/N, such as 3/20: K from 1 to N, N from 1 to \(Shard.most)")
    }
    return shard
  }

  package static func seed(_ text: String) throws -> UInt64 {
    guard let seed = UInt64(text) else {
      throw Wanted(description: "it takes a whole number from 0 to \(UInt64.max)")
    }
    return seed
  }

  /// A share such as 3% or 2.5%, from 0.1 % to 100 %.
  static func share(_ text: String) throws -> Double {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), 0.1...100 ~= percent else {
      throw Wanted(description: "it takes a half-width from 0.1% to 100%, such as 3%")
    }
    return percent / 100
  }

  /// A duration such as 90s, 10m or 1h, in seconds: up to a week.
  static func duration(_ text: String) throws -> Double {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), count > 0,
      Double(count) * unit <= 604_800
    else { throw Wanted(description: "it takes a time up to a week, such as 90s, 10m or 1h") }
    return Double(count) * unit
  }
}
