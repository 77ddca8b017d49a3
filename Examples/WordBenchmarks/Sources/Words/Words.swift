/// The library whose speed is held.
public enum Words {
  /// How often each word occurs.
  public static func frequencies(of text: String) -> [Substring: Int] {
    var counts: [Substring: Int] = [:]
    for word in split(text) { counts[word, default: 0] += 1 }
    return counts
  }

  public static func split(_ text: String) -> [Substring] {
    #if SLOWER
      // The change of this example: once more than needed.
      _ = text.split(separator: " ")
    #endif
    return text.split(separator: " ")
  }
}
