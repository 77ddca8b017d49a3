import Arms
import Glibc
import ImagePipeline
import Laboratory
import Operations
import Pictures
import Synchronization

/// A user scrolls through a list of pictures: each way of getting them onto the screen, beside each other.
///
/// `PICTURE_SERVER` is the address of a server: `./measure` starts one.
@main struct PictureBench: BenchmarkProgram {
  static let names = [
    "pipeline-stealing", "pipeline-threadpool", "pipeline-dispatch", "operations", "tasks", "foundation",
  ]

  static let benchmarks =
    names.map { name in session("session", ["arm": name]) { arm(name, $0) } }
    + PipelineArm.Ablation.allCases.map { ablation in
      session("session", ["arm": "pipeline-stealing", "without": ablation.rawValue]) {
        PipelineArm($0, backend: .stealing, without: ablation)
      }
    }

  private static func arm(_ name: String, _ workshop: Workshop) -> any Arm {
    switch name {
    case "pipeline-stealing": PipelineArm(workshop, backend: .stealing, without: .none)
    case "pipeline-threadpool": PipelineArm(workshop, backend: .threadPool, without: .none)
    case "pipeline-dispatch": PipelineArm(workshop, backend: .dispatch, without: .none)
    case "operations": OperationsArm(workshop, backend: .stealing)
    case "tasks": PlainArm(workshop)
    default: FoundationArm(workshop)
    }
  }

  /// One process: what it plays, and what came of it.
  final class Run: Sendable {
    let make: @Sendable (Workshop) -> any Arm
    let address: String
    let checksums: [UInt64]
    let last = Mutex<(result: Player.Result, decodes: Int, deliveries: Int, bytes: Int)?>(nil)

    init(_ make: @escaping @Sendable (Workshop) -> any Arm) throws {
      guard let address = getenv("PICTURE_SERVER").map({ String(cString: $0) }) else {
        throw CheckFailed("PICTURE_SERVER is not set: it is the address of a pictureserver; ./measure starts one")
      }
      (self.make, self.address) = (make, address)
      checksums = try blocking {
        let workshop = Workshop(address: address)
        let pipeline = ImagePipeline(transport: workshop.transport, backend: .dispatch)
        var checksums: [UInt64] = []
        for index in 0..<64 {
          let request = ImageRequest(url: workshop.url(index), processing: Workshop.processing)
          checksums.append(try await pipeline.image(for: request).checksum)
        }
        await pipeline.shutdown()
        try await workshop.transport.shutdown()
        return checksums
      }
    }

    func play(seed: UInt64) throws {
      let workshop = Workshop(address: address)
      let arm = make(workshop)
      let result = Player(arm, checksums: checksums).play(Session(seed: seed, seconds: 4))
      try blocking {
        await arm.shutdown()
        try await workshop.transport.shutdown()
      }
      guard result.lost == 0 else { throw CheckFailed("\(result.lost) pictures were lost or wrong") }
      let pipeline = (arm as? PipelineArm)?.pipeline.statistics
      last.withLock {
        $0 =
          pipeline.map { (result, $0[.decodes], $0[.decodes] - $0[.wastedDecodes], $0[.bytes]) }
          ?? (result, workshop.decodes, workshop.deliveries, workshop.bytes)
      }
    }
  }

  private static func session(
    _ name: String, _ parameters: [String: String], _ make: @escaping @Sendable (Workshop) -> any Arm
  ) -> Benchmark {
    func metric(
      _ name: String, _ unit: String, better: BenchmarkMetric<Run>.Better = .less,
      _ value: @escaping @Sendable (Player.Result, Int, Int, Int) -> Double
    ) -> BenchmarkMetric<Run> {
      BenchmarkMetric(name, unit: unit, better: better) { run, _ in
        guard let last = run.last.withLock({ $0 }) else { return .nan }
        return value(last.result, last.decodes, last.deliveries, last.bytes)
      }
    }
    return Benchmark(
      "pictures/\(name)", parameters: parameters, setUp: { try Run(make) }, measure: { try $0.play(seed: 36) },
      metrics: [
        metric("shown_p50", "ms") { result, _, _, _ in result.quantile(0.5) * 1e3 },
        metric("shown_p90", "ms") { result, _, _, _ in result.quantile(0.9) * 1e3 },
        metric("shown_p99", "ms") { result, _, _, _ in result.quantile(0.99) * 1e3 },
        metric("blank_per_cell", "ms") { result, _, _, _ in result.blank / Double(max(result.visits, 1)) * 1e3 },
        metric("shown_in_100ms", "ratio", better: .more) { result, _, _, _ in
          Double(result.prompt) / Double(max(result.stayed, 1))
        },
        metric("makespan", "s") { result, _, _, _ in result.seconds },
        metric("decodes", "count") { _, decodes, _, _ in Double(decodes) },
        metric("wasted_decodes", "ratio") { _, decodes, delivered, _ in
          Double(decodes - delivered) / Double(max(decodes, 1))
        },
        metric("fetched", "MB") { _, _, _, bytes in Double(bytes) / 1e6 },
        metric("peak_memory", "MB") { _, _, _, _ in status("VmHWM:") / 1e3 },
        metric("threads", "count") { _, _, _, _ in status("Threads:") },
      ]
    ).lasting(.seconds(4))
  }

  /// A number of `/proc/self/status`.
  private static func status(_ name: String) -> Double {
    guard let file = fopen("/proc/self/status", "r") else { return .nan }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix(name) { return Double(text.dropFirst(name.count).filter(\.isNumber)) ?? .nan }
    }
    return .nan
  }
}

/// Waits for a task. The thread that calls is no thread of a pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
  let queue = OperationQueue(backend: .dispatch)
  let operation = queue.addTask { try await body() }
  operation.waitUntilFinished()
  let result = Mutex<Result<Value, any Error>?>(nil)
  let read = queue.addTask {
    do {
      let value = try await operation.value
      result.withLock { $0 = .success(value) }
    } catch {
      result.withLock { $0 = .failure(error) }
    }
  }
  read.waitUntilFinished()
  guard let result = result.withLock({ $0 }) else { throw CheckFailed("a task ended without a result") }
  return try result.get()
}
