import HarnessMeasuring
import HarnessResults

extension CostModel {
  /// The model of a run without a model file: what `opbench calibrate-model` measured on one machine.
  package static let builtIn: CostModel = {
    func value(_ ns: Double, _ from: String) -> Value { Value(ns: ns, from: from) }
    let here = "results/simulation/model.json, which has the intervals and the measurement"
    return CostModel(
      name: "built in: 2 CPUs of an AMD EPYC", machine: Machine(cpu: "AMD EPYC", cpus: 2, kernel: "6.18.44"),
      date: "2026-11-25", commit: nil,
      values: [
        "operation": value(43.4, here),
        "edge": value(14, here),
        "add": value(2.1, here),
        "take": value(2.5, here),
        "look": value(1.3, here),
        "steal": value(80, here),
        "steal_other_group": value(160, "2 times steal: not measured"),
        "steal_other_socket": value(320, "4 times steal: not measured"),
        "move": value(9.7, here),
        "submit": value(3.5, here),
        "take_outside": value(37.3, here),
        "list": value(20.4, here),
        "wake": value(7561, here),
        "wake_latency": value(12_153, here),
        "miss": value(1.7, here),
        "miss_other_group": value(3.4, "2 times miss: not measured"),
        "miss_other_socket": value(6.8, "4 times miss: not measured"),
        "adding": value(34.4, here),
      ])
  }()
}
