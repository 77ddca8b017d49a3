import HarnessMeasuring
import HarnessResults

extension CostModel {
  /// What `opbench calibrate-model` measured on one machine with two CPUs: the model of `check-model` without a model file.
  package static let builtIn: CostModel = {
    func value(_ ns: Double) -> Value {
      Value(ns: ns, from: "results/simulation/model.json, which has the intervals and the measurement")
    }
    return CostModel(
      name: "built in: 2 CPUs of an AMD EPYC", machine: Machine(cpu: "AMD EPYC", cpus: 2, kernel: "6.18.44"),
      date: "2026-11-25", commit: nil,
      values: [
        "operation": value(43.4), "edge": value(14), "add": value(2.1), "take": value(2.5), "look": value(1.3),
        "steal": value(57), "steal_other_group": value(265.2), "steal_other_socket": value(488.2), "move": value(9.7),
        "submit": value(3.5), "take_outside": value(37.3), "list": value(8), "transfer": value(23),
        "transfer_other_group": value(107), "transfer_other_socket": value(197), "glance": value(2),
        "glance_other_group": value(9.3), "glance_other_socket": value(17.1), "wake": value(7561),
        "wake_latency": value(12_153), "miss": value(1.7), "miss_other_group": value(7.9),
        "miss_other_socket": value(14.6), "adding": value(34.4),
      ])
  }()

  /// A machine with two sockets of 64 CPUs, eight of which share a last-level cache: the model of `simulate` without a model
  /// file. What passes between CPUs is published; what one CPU does alone is measured.
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
      values["miss" + suffix] = Value(ns: latency, from: "one transfer: a job's two lines come at a time, an assumption")
      values["glance" + suffix] = Value(
        ns: latency / 4, from: "a quarter of a transfer: a CPU has several lines on their way, an assumption")
    }
    return CostModel(
      name: "published latencies: 2 sockets of 64 CPUs",
      machine: Machine(cpu: "2 AMD EPYC of 64 cores (Milan)", cpus: 128, kernel: "none", group: 8, socket: 64),
      date: "2026-11-25", commit: nil, values: values)
  }()
}
