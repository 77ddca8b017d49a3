import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Laboratory
import Workloads

/// `opbench queueing`: which load one queue without any cost carries.
struct Queueing: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compute the load that one queue without any cost carries: what queueing alone allows.",
    discussion: """
      The highest load, in percent of the servers' time, at which 99.9 % of the requests are there for less than ten times as \
      long as they take. Nothing is measured: the requests are drawn from a seed, and nothing but their service takes time. \
      latency/capacity measures the same of a scheduler. A search ends within 10 %; - is less than 5 %.

      Exit code 64: the command line is wrong.
      """)

  @Option(
    help: "How long requests take, with commas: \(names(ServiceTimes.self)).", completion: .list(all(ServiceTimes.self))
  )
  var service = "bimodal"

  @Option(
    help: "How they arrive, with commas: \(names(ArrivalSchedule.Spacing.self)).",
    completion: .list(all(ArrivalSchedule.Spacing.self)))
  var arrivals = "exponential"

  @Option(
    help: "What is done about requests of more than four means, with commas: \(names(SharedQueue.Long.self)).",
    completion: .list(all(SharedQueue.Long.self)))
  var long = all(SharedQueue.Long.self).joined(separator: ",")

  @Option(parsing: .unconditional, help: "How many servers, with commas, from 1 to 1024.")
  var servers = "1,2,4,8,16"

  @Option(
    parsing: .unconditional, help: "How many requests a search has (default: 100000).",
    transform: OptionNumber.count(in: 1_000...1_000_000))
  var requests = 100_000

  @Option(
    parsing: .unconditional, help: "How many seeds: a number is the median of their searches (default: 3).",
    transform: OptionNumber.count(in: OptionNumber.efforts))
  var repeats = 3

  @Option(parsing: .unconditional, help: "The first seed (default: 1).", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  func run() throws {
    let services: [ServiceTimes] = try chosen(service, "service")
    let spacings: [ArrivalSchedule.Spacing] = try chosen(arrivals, "arrivals")
    let ways: [SharedQueue.Long] = try chosen(long, "long")
    let counts = try OptionNumber.workerCounts(servers, option: "--servers")
    guard seed <= UInt64.max - UInt64(repeats) else {
      throw Complaint(.usage, "--seed \(seed) leaves no room for \(repeats) seeds")
    }
    var rows = [["service", "arrivals", "long"] + counts.map(String.init)]
    for service in services {
      for spacing in spacings {
        for way in ways {
          let loads = counts.map { servers in
            let found = (0..<UInt64(repeats)).map {
              IdealQueue.capacity(service, spacing, way, servers: servers, requests: requests, seed: seed + $0) ?? 0
            }
            let load = Statistics.median(found)
            return load > 0 ? "\(Int(load.rounded()))" : "-"
          }
          rows.append([service.rawValue, spacing.rawValue, way.rawValue] + loads)
        }
      }
    }
    try DescriptorOutput.write(
      Table.aligned(rows).joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "standard output")
  }

  private func chosen<Choice: RawRepresentable<String> & CaseIterable>(
    _ list: String, _ option: String
  ) throws -> [Choice] {
    try list.split(separator: ",", omittingEmptySubsequences: false).map { name in
      guard let choice = Choice(rawValue: String(name)) else {
        throw Complaint(.usage, "--\(option) takes \(Self.names(Choice.self)), with commas; not '\(list)'")
      }
      return choice
    }
  }

  private static func all<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> [String] {
    Choice.allCases.map(\.rawValue)
  }

  private static func names<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> String {
    all(type).joined(separator: ", ")
  }
}
