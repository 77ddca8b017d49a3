import HTTPTransport
import Laboratory
import MacroArms
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A user scrolls through a list of pictures: each way of getting them onto the screen, beside the others.
///
/// Each measuring process starts a `pictureserver` of its own, which stands beside this program; see `ServerProcess`.
/// `MACROBENCH_SEED` is the seed of the user, 36 by default.
struct MacroBench: BenchmarkProgram {
  static let name = "macrobench"
  /// Of scrolling.
  static let seconds = 6.0

  /// Each arm is a subject; `without-limit` is the pipeline on the stealing backend without that feature.
  static let benchmarks =
    ArmKind.allCases.map { benchmark(["network": "wifi"], .session(seconds: seconds), $0) }
    + Feature.allCases.map { benchmark(["network": "wifi"], .session(seconds: seconds), .stealing, without: $0) }
    + ArmKind.allCases.map { benchmark(["network": "lte"], .session(seconds: seconds, on: .lte), $0) }
    + Situation.published.flatMap { situation in
      ArmKind.allCases.map { benchmark(["scenario": situation.name], situation, $0) }
    }

  static let reference = ArmKind.stealing.rawValue

  /// A number of a session.
  struct Metric: Sendable {
    var name: String
    var unit: String
    var isMoreBetter = false
    var value: @Sendable (Outcome) -> Double
  }

  static let metrics = [
    Metric(name: "shown_p50", unit: "ms") { $0.latency(0.5) * 1e3 },
    Metric(name: "shown_p90", unit: "ms") { $0.latency(0.9) * 1e3 },
    Metric(name: "shown_p99", unit: "ms") { $0.latency(0.99) * 1e3 },
    Metric(name: "blank_per_cell", unit: "ms") { $0.blankPerVisit * 1e3 },
    Metric(name: "shown_in_100ms", unit: "ratio", isMoreBetter: true) { $0.promptShare },
    Metric(name: "never_shown", unit: "count") { Double($0.neverShown) },
    Metric(name: "session_time", unit: "s") { $0.seconds },
    Metric(name: "fetched", unit: "MB") { Double($0.bytes) / 1e6 },
    Metric(name: "fetched_for_nothing", unit: "MB") { Double($0.bytesForNothing) / 1e6 },
    Metric(name: "requests", unit: "count") { Double($0.requests) },
    Metric(name: "decodes", unit: "count") { Double($0.decodes.all) },
    Metric(name: "wasted_decodes", unit: "ratio") { $0.wastedDecodeShare },
    Metric(name: "unseen_decodes", unit: "count") { Double($0.decodesNotSeen) },
    Metric(name: "memory_peak", unit: "MB") { Double($0.usage.peakMemory) / 1e6 },
    Metric(name: "cpu_time", unit: "s") { $0.usage.cpu },
    Metric(name: "threads_peak", unit: "count") { Double($0.threads) },
    Metric(name: "wake_ups", unit: "count") { Double($0.usage.wakeUps) },
  ]

  private static func benchmark(
    _ parameters: [String: String], _ situation: Situation, _ kind: ArmKind, without feature: Feature? = nil
  ) -> Benchmark {
    Benchmark(
      "pictures/session", parameters: parameters,
      setUp: {
        let seed = ServerProcess.variable("MACROBENCH_SEED").flatMap { UInt64($0) } ?? 36
        return try Run(situation, kind, without: feature, seed: seed)
      },
      measure: { try $0.play() },
      metrics: metrics.map { metric in
        BenchmarkMetric(metric.name, unit: metric.unit, better: metric.isMoreBetter ? .more : .less) { run, _ in
          metric.value(try run.outcome())
        }
      }
    ).lasting(.seconds(seconds)).subject(feature.map { "without-\($0.rawValue)" } ?? kind.rawValue)
  }
}

/// One measuring process: its server, and what came of the last session.
final class Run: Sendable {
  private let situation: Situation
  private let kind: ArmKind
  private let feature: Feature?
  private let seed: UInt64
  private let server: ServerProcess
  private let pictures: PictureSet
  private let last = Mutex<Outcome?>(nil)

  init(_ situation: Situation, _ kind: ArmKind, without feature: Feature?, seed: UInt64) throws {
    (self.situation, self.kind, self.feature, self.seed) = (situation, kind, feature, seed)
    server = try ServerProcess(for: situation)
    pictures = try PictureSet(seed: situation.network.seed, situation.files)
    // The warm-up. The laboratory makes none where a call takes seconds.
    _ = session(Script(ticks: [Script.Tick(time: 0.25, visible: 0..<6, ahead: 6..<12)]))
  }

  /// A session with empty caches.
  /// - Parameter mayLose: does not throw when pictures are lost.
  func play(mayLose: Bool = false) throws {
    let outcome = session(situation.script(seed))
    guard outcome.lost == 0 || mayLose else { throw CheckFailed("\(outcome.lost) pictures were lost or wrong") }
    last.withLock { $0 = outcome }
  }

  private func session(_ script: Script) -> Outcome {
    let transport = HTTPTransport(connectionsPerHost: Workshop.fetchLimit + 2)
    defer { waiting { try? await transport.shutdown() } }
    let workshop = Workshop(address: server.address, transport: transport, lowLimit: situation.lowLimit)
    return Player(kind.arm(workshop, without: feature), workshop, pictures, without: feature).play(script)
  }

  func outcome() throws -> Outcome {
    guard let outcome = last.withLock({ $0 }) else { throw CheckFailed("no session was played") }
    return outcome
  }
}

/// Ends the program after one line on the standard error.
func complain(_ line: String, code: Int32) -> Never {
  _ = "\(line)\n".utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
  exit(code)
}
