import FoundationEssentials

/// A document in JSON of any form, for tests that look at some of it: `tree["measured"]["arms"][0]["name"].text`.
package enum JSONTree: Decodable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([JSONTree])
  case fields([String: JSONTree])

  package init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? single.decode(Double.self) {
      self = .number(value)
    } else if let value = try? single.decode(String.self) {
      self = .text(value)
    } else if let value = try? single.decode([JSONTree].self) {
      self = .list(value)
    } else {
      self = .fields(try single.decode([String: JSONTree].self))
    }
  }

  package init(_ text: String) throws { self = try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)) }

  /// Null where there is no such field.
  package subscript(key: String) -> JSONTree {
    if case .fields(let fields) = self { fields[key] ?? .null } else { .null }
  }
  package subscript(place: Int) -> JSONTree { list.indices.contains(place) ? list[place] : .null }

  package var list: [JSONTree] { if case .list(let list) = self { list } else { [] } }
  package var keys: [String] { if case .fields(let fields) = self { fields.keys.sorted() } else { [] } }
  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var number: Double? { if case .number(let number) = self { number } else { nil } }
  package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
  package var texts: [String?] { list.map(\.text) }
  package var numbers: [Int] { list.compactMap { $0.number.map { Int($0) } } }
}
