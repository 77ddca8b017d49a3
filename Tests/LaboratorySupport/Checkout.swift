/// Files of the checkout that the tests were built from.
package enum Checkout {
  /// Tests/LaboratorySupport/Checkout.swift lies three levels below.
  package static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/")

  package static func path(_ relative: String) -> String { "\(root)/\(relative)" }
}
