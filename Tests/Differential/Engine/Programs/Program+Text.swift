import Glibc

/// The text form of programs, one line each: what the runner prints and the corpus keeps.
///
/// ```
/// # comment
/// backend 2                 workers; backends, queues and operations are numbered in the order of their lines
/// queue 0 1 suspended       backend, limit
/// op blocks:2 wait:3 add:4:0 cancel:2 finish:5 flip:6 pass:0 open:0 join:7 graph:7 raise:4 helper
/// add 0 0                   operation, queue
/// ```
extension Program: CustomStringConvertible {
  public var description: String {
    var lines = backends.map { "backend \($0.workers)" }
    lines += queues.map { "queue \($0.backend) \($0.limit)\($0.isSuspended ? " suspended" : "")" }
    lines += operations.map { (["op", $0.kind.text] + $0.actions.map(\.text)).joined(separator: " ") }
    lines += statements.map(\.text)
    return lines.joined(separator: "\n") + "\n"
  }

  public init(text: String) throws {
    self.init()
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
      guard !words.isEmpty else { continue }
      guard take(words) else { throw ProgramTextError(line: index + 1, text: String(line)) }
    }
    guard numbersAreKnown else { throw ProgramTextError(line: 0, text: "a number without its line") }
  }

  private mutating func take(_ words: [String]) -> Bool {
    switch words[0] {
    case "backend":
      guard words.count == 2, let workers = Int(words[1]), workers > 0 else { return false }
      backends.append(BackendSpec(workers: workers))
    case "queue":
      guard words.count >= 3, let backend = Int(words[1]), let limit = Int(words[2]), limit >= -1 else { return false }
      queues.append(QueueSpec(backend: backend, limit: limit, isSuspended: words.last == "suspended"))
    case "op":
      guard words.count >= 2, let kind = OperationKind(text: words[1]) else { return false }
      let actions = words.dropFirst(2).map(BodyAction.init(text:))
      guard !actions.contains(where: { $0 == nil }) else { return false }
      operations.append(OperationSpec(kind: kind, actions: actions.compactMap(\.self)))
    default:
      guard let statement = Statement(words: words) else { return false }
      statements.append(statement)
    }
    return true
  }

  private var numbersAreKnown: Bool {
    let all = statements.flatMap { $0.operations } + operations.flatMap { $0.actions.flatMap(\.operations) }
    let named = statements.compactMap(\.queue) + operations.flatMap { $0.actions.compactMap(\.queue) }
    return all.allSatisfy(operations.indices.contains) && named.allSatisfy(queues.indices.contains)
      && queues.allSatisfy { backends.indices.contains($0.backend) }
  }
}

/// A line that is no part of a program.
public struct ProgramTextError: Error, CustomStringConvertible {
  let line: Int
  let text: String
  public var description: String { "line \(line) is not part of a program: \(text)" }
}

extension OperationKind {
  fileprivate var text: String {
    switch self {
    case .blocks(let count): "blocks:\(count)"
    case .main: "main"
    case .closure: "closure"
    case .asynchronous: "asynchronous"
    case .handWritten: "hand-written"
    case .conditional: "conditional"
    case .task: "task"
    }
  }

  fileprivate init?(text: String) {
    switch text {
    case "main": self = .main
    case "closure": self = .closure
    case "asynchronous": self = .asynchronous
    case "hand-written": self = .handWritten
    case "conditional": self = .conditional
    case "task": self = .task
    default:
      guard text.hasPrefix("blocks:"), let count = Int(text.dropFirst(7)), count > 0 else { return nil }
      self = .blocks(count)
    }
  }
}

extension BodyAction {
  fileprivate var text: String {
    switch self {
    case .wait(let other): "wait:\(other)"
    case .add(let other, let queue): "add:\(other):\(queue)"
    case .cancel(let other): "cancel:\(other)"
    case .finish(let other): "finish:\(other)"
    case .flip(let other): "flip:\(other)"
    case .pass(let gate): "pass:\(gate)"
    case .open(let gate): "open:\(gate)"
    case .join(let seed): "join:\(seed)"
    case .graph(let seed): "graph:\(seed)"
    case .raise(let level): "raise:\(level)"
    case .finishByHelper: "helper"
    }
  }

  fileprivate init?(text: String) {
    if text == "helper" {
      self = .finishByHelper
      return
    }
    let parts = text.split(separator: ":")
    let numbers = parts.dropFirst().compactMap { Int($0) }
    switch (parts[0], numbers.count) {
    case ("wait", 1): self = .wait(numbers[0])
    case ("add", 2): self = .add(numbers[0], queue: numbers[1])
    case ("cancel", 1): self = .cancel(numbers[0])
    case ("finish", 1): self = .finish(numbers[0])
    case ("flip", 1): self = .flip(numbers[0])
    case ("pass", 1): self = .pass(gate: numbers[0])
    case ("open", 1): self = .open(gate: numbers[0])
    case ("join", 1): self = .join(seed: numbers[0])
    case ("graph", 1): self = .graph(seed: numbers[0])
    case ("raise", 1) where (0...4).contains(numbers[0]): self = .raise(level: numbers[0])
    default: return nil
    }
  }

  /// The operations it names.
  var operations: [Int] {
    switch self {
    case .wait(let other), .add(let other, _), .cancel(let other), .finish(let other), .flip(let other): [other]
    case .pass, .open, .join, .graph, .raise, .finishByHelper: []
    }
  }

  var queue: Int? { if case .add(_, let queue) = self { queue } else { nil } }
}

extension Program {
  /// From a file of the corpus.
  public init(file path: String) throws {
    guard let file = fopen(path, "r") else { throw ProgramTextError(line: 0, text: "cannot read \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
    try self.init(text: String(decoding: bytes, as: UTF8.self))
  }
}
