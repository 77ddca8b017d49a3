/// The parameters of a cell: `key=value;key=value`, sorted by key. The text is also the identity of the parameters.
package struct Parameters: Hashable, Sendable, CustomStringConvertible, ExpressibleByDictionaryLiteral {
  private var values: [String: String]

  package init(dictionaryLiteral elements: (String, String)...) {
    values = [:]
    for (key, value) in elements { self[key] = value }
  }

  /// Reads the text that `description` wrote; nil when a pair has no `=`, and when two pairs have the same key.
  package init?(_ text: String) {
    values = [:]
    for pair in text.split(separator: ";") {
      guard let equals = pair.firstIndex(of: "=") else { return nil }
      let value = String(pair[pair.index(after: equals)...])
      guard values.updateValue(value, forKey: String(pair[..<equals])) == nil else { return nil }
    }
  }

  /// Reads or sets a value. The separators `=` and `;` and control characters are removed from keys and values.
  package subscript(key: String) -> String? {
    get { values[key] }
    set { values[Self.clean(key)] = newValue.map(Self.clean) }
  }

  package func integer(_ key: String) -> Int? { values[key].flatMap { Int($0) } }
  package func number(_ key: String) -> Double? { values[key].flatMap { Double($0) } }

  package func merging(_ other: Parameters) -> Parameters {
    var result = self
    result.values.merge(other.values) { $1 }
    return result
  }

  /// The pairs that are in both.
  package func intersection(_ other: Parameters) -> Parameters {
    var result = self
    result.values = values.filter { other.values[$0.key] == $0.value }
    return result
  }

  /// The pairs that `other` does not have.
  package func without(_ other: Parameters) -> Parameters {
    var result = self
    result.values = values.filter { other.values[$0.key] != $0.value }
    return result
  }

  /// Whether all pairs of the text are among these parameters.
  package func contains(_ text: String) -> Bool {
    guard let other = Parameters(text) else { return false }
    return other.values.allSatisfy { values[$0.key] == $0.value }
  }

  /// Sorted by key.
  package var pairs: [(key: String, value: String)] { values.sorted { $0.key < $1.key } }

  package var isEmpty: Bool { values.isEmpty }

  package var description: String {
    pairs.map { "\($0.key)=\($0.value)" }.joined(separator: ";")
  }

  /// The form that a key or a value has in results. A name that is to be compared with others is compared in this form.
  package static func clean(_ text: String) -> String {
    let isTaken: (Character) -> Bool = {
      $0 == ";" || $0 == "=" || $0.isNewline || Printable.name(String($0)) != String($0)
    }
    return String(text.map { isTaken($0) ? "_" : $0 })
  }
}
