/// A number with the noun that is counted: "1 block", "2 blocks".
package enum Count {
  package static func of(_ number: Int, _ noun: String) -> String {
    guard number != 1 else { return "1 \(noun)" }
    return "\(number) \(noun)" + (noun.hasSuffix("s") ? "es" : "s")
  }
}
