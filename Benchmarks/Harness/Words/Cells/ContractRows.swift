/// The rows of the contract that a strategy gives up, in words.
package enum ContractRows {
  /// Such as `gives up rows 20 and 28 of the contract`; nil when no row is given up.
  package static func words(_ rows: [Int]) -> String? {
    guard let last = rows.last else { return nil }
    let first = rows.dropLast().map(String.init).joined(separator: ", ")
    return rows.count == 1
      ? "gives up row \(last) of the contract" : "gives up rows \(first) and \(last) of the contract"
  }
}
