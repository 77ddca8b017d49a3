import HarnessResults
import HarnessStatistics
import HarnessWords

/// What each decision of a strategy is worth: the time of every change over the time of the default strategy, for each
/// scenario and for each family, with verdicts that hold together for all cells.
struct AblationFacts: Encodable {
  /// How many comparisons are read together, and the confidence of each.
  struct Held: Encodable {
    let comparisons: Int
    let comparisonsText: String
    let confidence: Double
    let confidenceText: String

    init(comparisons: Int, confidence: Double) {
      (self.comparisons, self.confidence) = (comparisons, confidence)
      comparisonsText = NumberFormat.grouped(comparisons)
      let percent = 100 * confidence
      confidenceText =
        (comparisons < 100 ? NumberFormat.general(percent, digits: 4) : NumberFormat.fixed(percent, digits: 3)) + " %"
    }
  }

  struct Table: Encodable {
    let base: Int
    /// More workers than CPUs.
    let isExtra: Bool
    let families: [String]
    /// The families, with the whole in front where there are several: null.
    let columns: [String?]
    let lines: [Int]
    /// The fewest and the most blocks of a cell of a scenario.
    let blocks: [Int]
    let changes: [Change]
    let sizes: Sizes
  }

  struct Change: Encodable {
    let arm: Int
    /// Such as `own=lifo`.
    let text: String
    /// Empty where the change changes several decisions.
    let decision: String
    let givesUp: [Int]
    /// What the change does; empty where the results do not say it.
    let meaning: String
    /// Over all families: `better` is surely better in one at least, and surely worse in none; `mixed` is both. What is
    /// neither nor the same everywhere is `no better` when the mean of all benchmarks surely says so, or `open`.
    let verdict: String
    let families: [Joined<FamilyName, WorthFacts>]
    let scenarios: [Joined<LinePlace, WorthFacts>]
  }

  /// A family; absent for the whole.
  struct FamilyName: Encodable { let family: String? }

  /// How large the effects are of each decision and of each column.
  struct Sizes: Encodable {
    struct Group: Encodable {
      let decisions: [Joined<DecisionName, SizeFacts>]
      let families: [Joined<FamilyName, SizeFacts>]?
      let lines: [Joined<LinePlace, SizeFacts>]?
    }

    let families: Group
    let scenarios: Group
  }

  struct DecisionName: Encodable { let decision: String }

  struct Decision: Encodable {
    let subject: String
    let name: String
    let summary: String
    let usual: String
    /// What the default's choice does.
    let usualWords: String
  }

  /// A published number beside ours.
  struct Claim: Encodable {
    /// The place in the given list.
    let claim: Int
    let table: Int
    let change: Int
    let benchmark: String
    /// `agrees`, `open`, `same` or `disagrees`.
    let verdictOnClaim: String
  }

  let cpus: Int?
  let margin: Double
  /// All intervals hold together at 95 %.
  let families: Held
  /// Of the verdicts that are not open, 5 % at most are expected to be wrong.
  let scenarios: Held
  let decisions: [Decision]
  let tables: [Table]
  let claims: [Joined<Claim, WorthFacts>]?
}

/// The worth of a change with its texts.
struct WorthFacts: Encodable {
  let ratio: Double
  let low: Double?
  let high: Double?
  let benchmarks: Int
  let blocks: Int
  let isWideEnough: Bool
  let verdict: String
  let half: Double?
  /// Such as `0.880`, `x0.880 [0.850, 0.910]`, `[0.850, 0.910]`, and `−12` for a cell of a heat map.
  let number: String
  let text: String
  let rangeText: String?
  let short: String
  let share: Share

  /// What the change does to a time: a share up to 1.5, and times from there on.
  struct Share: Encodable {
    /// Such as `12 % less time`, or `3.10 times as long`.
    let text: String
    /// The interval in the same words, the smaller number first.
    let range: String?

    init(_ worth: Worth, of what: String) {
      let (ratio, limit) = (worth.ratio, RatioWords.limit)
      let isLess = ratio < 1
      let isNear = ratio > 1 / limit && ratio < limit
      let digits = abs(ratio - 1) >= 0.1 ? 0 : 1
      func number(_ end: Double) -> String {
        isNear
          ? NumberFormat.fixed((isLess ? -1 : 1) * (end - 1) * 100, digits: digits)
          : NumberFormat.significant(isLess ? 1 / end : end)
      }
      // What is no time has no speed.
      let isTime = RatioWords.isTime(what)
      let far =
        isLess ? (isTime ? "times as fast" : "times less \(what)") : isTime ? "times as long" : "times the \(what)"
      text = "\(number(ratio)) " + (isNear ? "% \(isLess ? "less" : "more") \(what)" : far)
      range = worth.interval.map {
        let ends = [number($0.lowerBound), number($0.upperBound)].sorted { Double($0)! < Double($1)! }
        return "[\(ends[0]), \(ends[1])]"
      }
    }
  }

  init(_ worth: Worth, of what: String = "time") {
    (ratio, benchmarks, blocks, isWideEnough) = (worth.ratio, worth.benchmarks, worth.blocks, worth.isWideEnough)
    (low, high, half) = (worth.interval?.lowerBound, worth.interval?.upperBound, worth.half)
    verdict = worth.verdict.judged
    number = NumberFormat.significant(ratio)
    text = NumberFormat.ratio(ratio, worth.interval)
    rangeText = worth.interval.map(NumberFormat.range)
    short = Self.short(ratio)
    share = Share(worth, of: what)
  }

  /// Per cent less or more, such as `−12` or `+8`; far from 1 a factor, such as `×3.1`.
  private static func short(_ ratio: Double) -> String {
    guard ratio > 1 / 3.0, ratio < 3 else {
      return "×\(NumberFormat.general(Double(NumberFormat.general(ratio, digits: 2))!, digits: 6))"
    }
    let percent = Int(((ratio - 1) * 100).rounded(.toNearestOrEven))
    return percent == 0 ? "0" : "\(percent < 0 ? "−" : "+")\(abs(percent))"
  }
}

/// How large some effects are, without what is noise.
struct SizeFacts: Encodable {
  let share: Double
  /// Such as `±12` or `×3.10`, and the per cent alone.
  let text: String
  let percentText: String

  /// Nil without an interval.
  init?(_ worths: [Worth]) {
    guard let share = Worth.size(worths) else { return nil }
    self.share = share
    percentText = NumberFormat.fixed(share * 100, digits: 0)
    text = share < 2 ? "±\(percentText)" : "×\(NumberFormat.significant(1 + share))"
  }
}
