/// The two sides of the ratios of a comparison: A to B.
package struct ComparedSides: Sendable {
  /// A and B in words.
  package let a: String
  package let b: String
  /// The result that A's numbers are from.
  package let result: String
  let isOneResult: Bool

  /// The subjects of one result against the reference, a subject of the same result.
  static func subjects(of result: String, reference: String) -> ComparedSides {
    ComparedSides(a: "each subject", b: reference, result: result, isOneResult: true)
  }

  /// The later result to the earlier result. A ratio above 1 means that the later result is slower.
  static func results(before: String, after: String) -> ComparedSides {
    ComparedSides(a: after, b: before, result: after, isOneResult: false)
  }

  /// The names of the two sides in the table.
  var aName: String { isOneResult ? "A" : "after" }
  var bName: String { isOneResult ? "B" : "before" }
  /// The name of the ratio, such as `A/B`.
  var ratioName: String { "\(aName)/\(bName)" }

  /// The order in which the command line names two results: the earlier result comes first.
  func ordered(_ a: String, _ b: String) -> [String] { isOneResult ? [a, b] : [b, a] }

  var heading: String {
    isOneResult ? "\(result): \(aName) \(a), \(bName) \(b)" : "\(bName): \(b), \(aName): \(a)"
  }
}
