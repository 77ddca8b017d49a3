import Testing

@testable import HarnessWords

struct SuggestionTests {
  @Test func edits() {
    for (a, b, count) in [
      ("", "", 0), ("", "abc", 3), ("run", "run", 0), ("comapre", "compare", 1), ("kitten", "sitting", 3),
      ("ab", "ba", 1),
    ] {
      #expect(Suggestion.edits(Array(a), Array(b)) == count && Suggestion.edits(Array(b), Array(a)) == count)
    }
    #expect(Suggestion.closest(to: "", among: ["a"]) == nil && Suggestion.closest(to: "x", among: ["a"]) == nil)
    #expect(Suggestion.closest(to: "lst", among: ["run", "list"]) == "list")
  }
}
