/// Stands for your library: the code whose speed the gate holds.
public enum Words {
  /// How often each word occurs.
  public static func frequencies(of lines: [String]) -> [Substring: Int] {
    var counts: [Substring: Int] = [:]
    for line in lines {
      for word in split(line) { counts[word, default: 0] += 1 }
    }
    return counts
  }

  public static func split(_ line: String) -> [Substring] { line.split(separator: " ") }
}
