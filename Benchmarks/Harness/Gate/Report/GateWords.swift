import HarnessPlanning
import HarnessWords

/// A finding in words, with the same words on the terminal and in a pull request.
extension GateFinding {
  /// The change, such as "x1.21 [1.17, 1.26]" or "+1.000".
  package var change: String {
    guard let effect, let scale, base != nil else { return "-" }
    let interval =
      if let lower, let upper { " [\(shown(lower, scale)), \(shown(upper, scale))]" } else { "" }
    return (scale == .difference ? "" : "x") + shown(effect, scale) + interval
  }

  /// How far a measure that passed has surely moved, such as "surely slower by 7 to 9 %, within the threshold"; nil
  /// when it is not sure to have moved.
  var movement: String? {
    guard let moved, let scale, let lower, let upper else { return nil }
    let words: (worse: String, better: String) =
      tier == GatedMetric.Tier.wallClock.rawValue ? ("slower", "faster") : ("more", "less")
    let ends = (moved == .worse) != (scale == .rate) ? (lower, upper) : (upper, lower)
    return
      "surely \(moved == .worse ? words.worse : words.better) by \(Self.amounts(ends, scale)), within the threshold"
  }

  /// Two amounts of change, the smaller one first: of ratios in percent, without decimals where each is several
  /// percent.
  private static func amounts(_ ends: (Double, Double), _ scale: GateScale) -> String {
    guard scale != .difference else { return "\(fixed(abs(ends.0), 3)) to \(fixed(abs(ends.1), 3))" }
    let percents = (abs(ends.0 - 1) * 100, abs(ends.1 - 1) * 100)
    let digits = percents.0 < 3 || percents.0.rounded() == percents.1.rounded() ? 1 : 0
    func text(_ percent: Double) -> String { digits == 0 ? "\(Int(percent.rounded()))" : fixed(percent, digits) }
    return "\(text(percents.0)) to \(text(percents.1)) %"
  }

  private func shown(_ value: Double, _ scale: GateScale) -> String {
    switch scale {
    case .ratio, .rate: Self.fixed(value, 3)
    case .difference: (value < 0 ? "-" : "+") + amount(abs(value))
    }
  }

  /// A difference without its sign, in the unit in which the numbers are shown.
  private func amount(_ value: Double) -> String {
    unit == "bytes" && value.isFinite ? NumberFormat(unit, value).text(value) : Self.fixed(value, 3)
  }

  /// Fixed decimals, so that a column can be read downwards.
  fileprivate static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let power = (0..<digits).reduce(1) { factor, _ in factor * 10 }
    let scaled = Int((value * Double(power)).rounded())
    let fraction = "\(scaled % power)"
    return "\(scaled / power)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  /// The numbers of base and head.
  package var numbers: String {
    guard let head else { return "-" }
    guard let base else { return NumberFormat(unit, head).text(head) }
    let format = NumberFormat(unit, max(abs(base), abs(head)))
    return "\(format.format(base)) -> \(format.format(head))\(format.suffix)"
  }

  /// How sure the finding is: half the width of its interval, and the blocks that it comes from.
  package var certainty: String {
    if tier == GatedMetric.Tier.deterministic.rawValue, effect != nil {
      guard let processes, verdict != .pass else { return verdict == .pass ? "within its bounds" : "counted once" }
      return "in each of \(processes) processes"
    }
    guard let blocks, blocks > 0 else { return "-" }
    let width =
      if let lower, let upper, let scale {
        "±\(scale.size((scale.tolerance(upper) - scale.tolerance(lower)) / 2)), "
      } else { "" }
    return width + Count.of(blocks, "block") + (excluded.map { $0 > 0 ? ", \($0) left out" : "" } ?? "")
  }

  package var thresholdText: String {
    guard let threshold, let scale else { return "-" }
    guard base != nil || tier != GatedMetric.Tier.deterministic.rawValue else { return "at most \(amount(threshold))" }
    return scale != .difference ? "x\(Self.fixed(threshold, 3))" : "+\(amount(threshold))"
  }
}

extension GateReport {
  /// One line that says what happened.
  package var headline: String {
    func names(_ verdict: GateVerdict) -> [GateFinding] { findings.filter { $0.verdict == verdict } }
    func list(_ some: [GateFinding], _ words: (GateFinding) -> String) -> String {
      some.prefix(3).map(words).joined(separator: "; ") + (some.count > 3 ? "; and \(some.count - 3) more" : "")
    }
    switch verdict {
    case .pass:
      let worse = findings.filter { $0.moved == .worse }
      guard !worse.isEmpty else { return "pass: nothing moved beyond its threshold" }
      return "pass: nothing moved beyond its threshold, but within it surely for the worse: "
        + list(worse) { "\($0.name) \($0.metric) \($0.change)" }
    case .regression, .improvement:
      return "\(verdict.rawValue): "
        + list(names(verdict), \.headline)
    case .inconclusive:
      if findings.isEmpty { return "inconclusive: nothing was measured" }
      let open = names(.inconclusive)
      // A base that fails its own checks would fail them on a quiet machine, too.
      let isNoise = open.contains { $0.metric != GateFinding.selfCheck.name }
      return "inconclusive: \(open.count) of \(Count.of(findings.count, "measure")) cannot be judged; "
        + (isNoise ? "the machine was too unsteady: " : "the base does not pass its own checks: ")
        + list(open) { "\($0.name) \($0.metric)" + ($0.reason.map { ": \($0)" } ?? "") }
    }
  }
}

extension GateFinding {
  /// What moved, in the last line: the change, or the numbers, or the reason where there is no number.
  fileprivate var headline: String {
    if change != "-" || numbers != "-" { return "\(name) \(metric) \(change == "-" ? numbers : change)" }
    guard let reason else { return "\(name) \(metric)" }
    return reason.hasPrefix(name) ? reason : "\(name) \(metric): \(reason)"
  }
}

extension GateFinding {
  /// A share in percent with one decimal.
  static func percent(_ share: Double) -> String { fixed(max(0, share) * 100, 1) }
}

extension GateScale {
  /// The size of an effect as a reader sees it: in percent, or as a difference.
  func size(_ effect: Double) -> String { self != .difference ? Goal.percent(effect) : GateFinding.fixed(effect, 3) }
}
