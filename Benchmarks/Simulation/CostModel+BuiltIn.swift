extension CostModel {
  /// The model of a run without a model file.
  package static let builtIn: CostModel = {
    func value(_ ns: Double, _ from: String) -> Value { Value(ns: ns, from: from) }
    return CostModel(
      name: "built in: 2 CPUs of an AMD EPYC", machine: Machine(cpu: "AMD EPYC", cpus: 2, kernel: "unknown"),
      date: "2026-11-22", commit: nil,
      values: [
        "operation": value(100, "results/reference: dependencies/chain"),
        "edge": value(30, "results/reference: dependencies/fan-in"),
        "add": value(15, "results/reference: overhead/local-add"),
        "take": value(15, "results/reference: overhead/local-add"),
        "look": value(5, "a cached load of another worker's counts"),
        "steal": value(150, "results/ablation: strategy/one-producer"),
        "steal_other_group": value(300, "twice that of the same group: not measured"),
        "steal_other_socket": value(600, "four times that of the same group: not measured"),
        "move": value(20, "results/reference: overhead/external-batch"),
        "submit": value(60, "results/reference: overhead/external-add"),
        "take_outside": value(60, "results/reference: overhead/external-add"),
        "list": value(40, "results/reference: overhead/contended-add"),
        "wake": value(4_500, "Sources/StealingBackend/README.md"),
        "wake_latency": value(20_000, "Sources/StealingBackend/README.md"),
        "miss": value(100, "a transfer of a cache line between two CPUs"),
        "miss_other_group": value(200, "twice that of the same group: not measured"),
        "miss_other_socket": value(400, "four times that of the same group: not measured"),
        "adding": value(150, "results/reference: dependencies/graph"),
      ])
  }()
}
