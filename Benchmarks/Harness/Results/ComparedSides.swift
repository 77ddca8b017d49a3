/// What stands on either side of the ratios of a comparison: A to B.
package struct ComparedSides: Sendable {
  /// What A is, and what B is.
  package let a: String
  package let b: String
  /// The result that A's numbers are from.
  package let result: String
  let isOneResult: Bool

  /// The subjects of one result against one of them.
  static func subjects(of result: String, reference: String) -> ComparedSides {
    ComparedSides(a: "each subject", b: reference, result: result, isOneResult: true)
  }

  /// What came later to what was there before: above 1, it has become slower.
  static func results(before: String, after: String) -> ComparedSides {
    ComparedSides(a: after, b: before, result: after, isOneResult: false)
  }

  /// What the table calls the two sides.
  var aName: String { isOneResult ? "A" : "after" }
  var bName: String { isOneResult ? "B" : "before" }
  /// Such as `A/B`.
  var ratioName: String { "\(aName)/\(bName)" }

  var heading: String {
    isOneResult ? "\(result): \(aName) \(a), \(bName) \(b)" : "\(bName): \(b), \(aName): \(a)"
  }
}
