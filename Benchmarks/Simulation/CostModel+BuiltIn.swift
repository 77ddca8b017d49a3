import HarnessMeasuring
import HarnessResults

extension CostModel {
  /// What `opbench calibrate-model` measured on one machine with two CPUs: the model of `check-model` without a model
  /// file.
  package static let builtIn: CostModel = {
    func value(_ ns: Double) -> Value {
      Value(ns: ns, from: "results/simulation/model.json, which has the intervals and the measurement")
    }
    return CostModel(
      name: "built in: 2 CPUs of an AMD EPYC", machine: Machine(cpu: "AMD EPYC", cpus: 2, kernel: "6.18.44-fc-v657"),
      date: "2026-11-25", commit: nil,
      values: [
        "operation": value(51.6), "edge": value(22.7), "add": value(5), "take": value(4.7), "look": value(0.8),
        "steal": value(36.4), "steal_other_group": value(169.3), "steal_other_socket": value(311.8), "move": value(4.8),
        "submit": value(5), "take_outside": value(36.7), "list": value(9.7), "transfer": value(23.6),
        "transfer_other_group": value(109.8), "transfer_other_socket": value(202.1), "glance": value(0.8),
        "glance_other_group": value(3.7), "glance_other_socket": value(6.9), "wake": value(8022),
        "wake_latency": value(13_616), "miss": value(1.4), "miss_other_group": value(6.5),
        "miss_other_socket": value(12), "adding": value(43.3),
      ])
  }()

  /// A machine with two sockets of 64 CPUs, eight of which share a last-level cache: the model of `simulate` without a
  /// model file. What passes between CPUs is published; what one CPU does alone is measured.
  package static let manyCPUs: CostModel = {
    let alone = Set(builtIn.values.keys).subtracting(
      ModelMeasurement.byDistance.flatMap { base in ModelMeasurement.distances.map { base + $0.suffix } })
    var values = builtIn.values.filter { alone.contains($0.key) }
    // Median latencies of one machine, an AWS c6a.metal with two AMD EPYC 7R13 (Milan) of 48 cores.
    let source = "github.com/nviennot/core-to-core-latency, README, AMD EPYC 7R13"
    for (suffix, latency, place) in [
      ("", 23.0, "within a group of 8 cores"), ("_other_group", 107, "between groups of a socket"),
      ("_other_socket", 197, "between sockets"),
    ] {
      values["transfer" + suffix] = Value(ns: latency, from: "\(source), \(place)")
      values["steal" + suffix] = Value(ns: latency, from: "one more transfer, for the job: an assumption")
      values["miss" + suffix] = Value(
        ns: latency, from: "one transfer: a job's two lines come at a time, an assumption")
      values["glance" + suffix] = Value(
        ns: latency / 4, from: "a quarter of a transfer: a CPU has several lines on their way, an assumption")
    }
    return CostModel(
      name: "published latencies: 2 sockets of 64 CPUs",
      machine: Machine(cpu: "2 AMD EPYC of 64 cores (Milan)", cpus: 128, kernel: "none", group: 8, socket: 64),
      date: "2026-11-25", commit: nil, values: values)
  }()
}
