import CPlatform

/// Names of functions and executors for people, each looked up once.
package struct FunctionNames {
  private struct Function {
    /// Nil for one of the runtime's or of this library's.
    var name: String?
    var isSleep = false
  }

  private var known: [UInt: Function] = [:]
  private static let most = 4
  private static let longest = 200

  package init() {}

  /// The name of the first of these functions that is the user's.
  package mutating func first(of functions: [UInt]) -> String? {
    for address in functions { if let name = function(at: address).name { return name } }
    return nil
  }

  /// - Returns: the user's functions, and whether the task sleeps.
  mutating func functions(of task: TaskMemory) -> (names: [String], sleeps: Bool) {
    var names: [String] = []
    var sleeps = false
    for address in task.functions {
      let function = function(at: address)
      sleeps = sleeps || (names.isEmpty && function.isSleep)
      if let name = function.name, names.last != name { names.append(name) }
      if names.count == Self.most { break }
    }
    // A function of the task's beginning is there as long as the task has not gone on.
    if names.isEmpty, !task.isRunning, let entry = task.entry, let name = function(at: entry).name {
      names.append(name)
    }
    return (names, sleeps)
  }

  /// `Task.sleep`, `sleep` of a clock of the system, and that of this library's alarms.
  private static func isSleep(_ symbol: String) -> Bool {
    if symbol.hasPrefix("$s18OperationExecutors5AlarmO") { return true }
    return (symbol.hasPrefix("$sScT") || symbol.hasPrefix("$ss")) && symbol.hasPart("5sleep")
  }

  private mutating func function(at address: UInt) -> Function {
    if let function = known[address] { return function }
    let symbol = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer -> String? in
      guard let base = buffer.baseAddress, cplatform_function_name(address, base, buffer.count) else { return nil }
      return String(cString: base)
    }
    let function = symbol.map { Function(name: Self.name(of: $0), isSleep: Self.isSleep($0)) } ?? Function()
    known[address] = function
    return function
  }

  /// A function's name as in source; nil for one of the runtime's or of this library's.
  private static func name(of symbol: String) -> String? {
    guard symbol.hasPrefix("$s"), let text = cplatform_demangled(symbol) else { return nil }
    defer { cplatform_free(text) }
    var name = Substring(String(cString: text))
    // "(1) await resume partial function for partial apply forwarder for …"
    let kinds = [
      "await resume partial function for ", "suspend resume partial function for ", "partial apply forwarder for ",
    ]
    if name.hasPrefix("("), let end = name.firstIndex(of: ")"), name[..<end].dropFirst().allSatisfy(\.isNumber) {
      name = name[end...].dropFirst(2)
    }
    while let kind = kinds.first(where: name.hasPrefix) { name = name.dropFirst(kind.count) }
    guard !name.hasPrefix("reabstraction thunk") else { return nil }
    // A user's extension of a type of those has the module that it is in.
    let others = ["$s13OperationCore", "$s18OperationExecutors", "$ss", "$sS"].contains(where: symbol.hasPrefix)
    if others {
      let parts = name.split(separator: "(extension in ", maxSplits: 1, omittingEmptySubsequences: false)
      guard let extended = parts.dropFirst().first?.prefix(while: { $0 != ")" }),
        !["Swift", "_Concurrency", "OperationCore", "OperationExecutors"].contains(String(extended))
      else { return nil }
    }
    let words = withoutFiles(name)
    return words.count > longest ? words.prefix(longest) + "…" : words
  }

  /// What is private to a file has the name "(name in _0123456789ABCDEF…)".
  private static func withoutFiles(_ name: Substring) -> String {
    var words = ""
    var parts = name.split(separator: " ", omittingEmptySubsequences: false)[...]
    while let part = parts.popFirst() {
      if parts.first == "in", let file = parts.dropFirst().first, file.hasPrefix("_"),
        let end = file.firstIndex(of: ")"), let begin = part.lastIndex(of: "(")
      {
        words += part[..<begin] + part[part.index(after: begin)...] + file[file.index(after: end)...]
        parts = parts.dropFirst(2)
      } else {
        words += part
      }
      if !parts.isEmpty { words += " " }
    }
    return words
  }

  /// An actor, by its type and address.
  mutating func executor(_ object: UInt, _ kind: UInt) -> String {
    let address = "0x" + String(object, radix: 16)
    let main = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UInt, UInt).self)
    if (object, kind) == main { return "the main actor" }
    let noun = kind == 0 ? "the actor" : "the executor"
    guard let type = TaskMemory.read(object, 1)?[0], isClass(type) else { return "\(noun) \(address)" }
    return "\(noun) <\(_typeName(unsafeBitCast(type, to: Any.Type.self), qualified: false)) \(address)>"
  }

  /// Whether an address is surely the metadata of a class: of a kind 0, in a file, with a description in a file, whose
  /// kind is 16. That of a generic class lies elsewhere.
  private func isClass(_ type: UInt) -> Bool {
    guard cplatform_is_in_image(type), let words = TaskMemory.read(type, 6), words[0] == 0,
      cplatform_is_in_image(words[5]), let description = TaskMemory.read(words[5], 1)
    else { return false }
    return description[0] & 0x1F == 16
  }
}

extension StringProtocol {
  fileprivate func hasPart(_ part: String) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}
