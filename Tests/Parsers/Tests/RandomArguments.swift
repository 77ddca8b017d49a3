import TestSupport

/// Command lines that are nearly right: commands, options, values and odd text in any order.
struct RandomArguments {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let words = [
    "run", "list", "compare", "report", "gate", "validate", "measure", "help", "--help", "-h", "--version", "--",
    "-", "--backend", "--benchmark", "--workers", "--blocks", "--values", "--quick", "--seed", "--graph", "--allocator",
    "--output", "--trace", "--resume", "--dry-run", "--variants", "--reference", "--metric", "--format",
    "--across-allocators",
    "--base", "--head", "--base-name", "--head-name", "--tiers", "--thresholds", "--allocations", "--json",
    "--markdown",
    "--calibrate", "--record", "--self-test", "--runs", "--generate-completion-script", "--experimental-dump-help",
    "--no-quick", "--backend=stealing", "--blocks=10", "--seed=-1", "--format=json", "--quick=true", "-q", "-x=1",
  ]

  private static let values = [
    "", " ", "stealing", "stealing,all", "foundation", ".*", "[", "(", "1", "0", "-1", "1,2,4", "99999999999999999999",
    "18446744073709551615", "1e9", "0x10", "nan", "a.csv", "/", "..", "table", "csv", "json", "go", "jemalloc", "bash",
    "zsh", "fish", "é語🙂", "\u{0}", "a\nb", "a\tb", "\"", "'", "\\", "--", "-", "=", "--=", "---", "{}", "%n%s",
  ]

  mutating func next() -> [String] { (0..<pick(0...8)).map { _ in word() } }

  private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func word() -> String {
    switch pick(0...9) {
    case 0...4: Self.words.randomElement(using: &random) ?? ""
    case 5...7: Self.values.randomElement(using: &random) ?? ""
    case 8: (Self.words.randomElement(using: &random) ?? "") + "=" + (Self.values.randomElement(using: &random) ?? "")
    default: bent(Self.words.randomElement(using: &random) ?? "")
    }
  }

  /// With a character changed, left out, doubled, or many more.
  private mutating func bent(_ word: String) -> String {
    var characters = Array(word)
    let place = pick(0...(characters.count - 1))
    switch pick(0...3) {
    case 0: characters[place] = Character(UnicodeScalar(UInt8(pick(1...126))))
    case 1: characters.remove(at: place)
    case 2: characters.insert(characters[place], at: place)
    default: characters += [Character](repeating: "x", count: pick(1...5_000))
    }
    return String(characters)
  }
}
