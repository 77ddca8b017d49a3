import Laboratory
import MacroArms

/// With `play` as the first argument: one session, whose numbers are one line. Everything else is the laboratory's.
///
/// `macrobench play stealing`, `macrobench play stealing without=limit`,
/// `macrobench play tasks network=lte seconds=6 seed=3`
@main enum Main {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.first == "play" else { return MacroBench.main() }
    do {
      print(try play(Array(words.dropFirst())))
    } catch let mistake as Mistake {
      complain("macrobench: \(mistake.words)", code: 64)
    } catch {
      complain("macrobench: \(error)", code: 70)
    }
  }

  /// A word that is not understood.
  private struct Mistake: Error {
    var words: String
  }

  private static func play(_ words: [String]) throws -> String {
    guard let kind = words.first.flatMap(ArmKind.init) else {
      throw Mistake(words: "play needs an arm: \(ArmKind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    var (situation, feature): (Situation?, Feature?) = (nil, nil)
    var (network, seed, seconds): (Situation.Network, UInt64, Double) = (.wifi, 36, MacroBench.seconds)
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.first, parts.last) {
      case ("without", let value?) where Feature(rawValue: value) != nil: feature = Feature(rawValue: value)
      case ("scenario", let value?) where Situation.published.contains { $0.name == value }:
        situation = Situation.published.first { $0.name == value }
      case ("network", "wifi"?): network = .wifi
      case ("network", "lte"?): network = .lte
      case ("seed", let value?) where UInt64(value) != nil: seed = UInt64(value) ?? seed
      case ("seconds", let value?) where Double(value).map { 0.1...60 ~= $0 } == true:
        seconds = Double(value) ?? seconds
      default:
        throw Mistake(
          words: "play does not know '\(word)': without=, scenario=, network=, seed= and seconds= may follow an arm")
      }
    }
    let run = try Run(situation ?? .session(seconds: seconds, on: network), kind, without: feature, seed: seed)
    try run.play(mayLose: true)
    let outcome = try run.outcome()
    let numbers = MacroBench.metrics.map { "\($0.name)=\(rounded($0.value(outcome)))" }
    return (["arm=\(kind.rawValue)", "lost=\(outcome.lost)", "visits=\(outcome.visits)"] + numbers)
      .joined(separator: " ")
  }

  private static func rounded(_ number: Double) -> Double { (number * 1e4).rounded() / 1e4 }
}
