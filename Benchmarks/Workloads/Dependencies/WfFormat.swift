import FoundationEssentials
import HarnessWords

/// Reads WfFormat 1.5 (wfcommons.org). `workflow.specification.tasks` has the graph, `workflow.execution.tasks` has the
/// runtimes, and the id joins them. Only the fields that a replay needs are read.
package enum WfFormat {
  private struct Document: Decodable {
    let workflow: Body
  }

  private struct Body: Decodable {
    let specification: Specification
    let execution: Execution
  }

  private struct Specification: Decodable {
    let tasks: [SpecifiedTask]
  }

  private struct SpecifiedTask: Decodable {
    let id: String
    let name: String?
    let parents: [String]?
    let children: [String]?
  }

  private struct Execution: Decodable {
    let tasks: [ExecutedTask]
  }

  private struct ExecutedTask: Decodable {
    let id: String
    let runtimeInSeconds: Double
    let coreCount: Double?
  }

  /// Throws one `Complaint` that names the file and, if the error is in a task, the task.
  package static func read(path: String) throws -> Workflow {
    let data = try InputFile.read(path, what: "graph")
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return try parse(data, name: file.hasSuffix(".json") ? String(file.dropLast(5)) : file, source: path)
  }

  package static func parse(_ data: Data, name: String, source: String) throws -> Workflow {
    let body = try decode(data, source: source)
    let specified = body.specification.tasks
    var position: [String: Int] = [:]
    for (index, task) in specified.enumerated() {
      guard position.updateValue(index, forKey: task.id) == nil else {
        throw Complaint(.badInput, "\(source): there are two tasks '\(task.id)'")
      }
    }
    let runtimes = try runtimes(body.execution.tasks, known: position, source: source)
    let parents = try parents(specified, position: position, source: source)
    let tasks = try specified.enumerated().map { index, task in
      guard let seconds = runtimes[task.id] else {
        throw Complaint(.badInput, "\(source): task '\(task.id)' has no runtime in workflow.execution.tasks")
      }
      return Workflow.Task(id: task.id, seconds: seconds, parents: parents[index].sorted())
    }
    var workflow = try Workflow(name: name, source: source, unsorted: tasks)
    workflow.remarks = remarks(workflow, body.execution.tasks)
    return workflow
  }

  /// What a replay of the file does not show.
  private static func remarks(_ workflow: Workflow, _ executed: [ExecutedTask]) -> [String] {
    var remarks: [String] = []
    if workflow.tasks.count > 1, workflow.edges == 0 {
      remarks.append(
        "no task of the file has a parent or a child, so all \(workflow.tasks.count) tasks are ready at once: there is no graph"
      )
    }
    let wide = executed.count { ($0.coreCount ?? 1) > 1 }
    if wide > 0 {
      remarks.append(
        "\(Count.of(wide, "task")) had several cores; here each task keeps one worker busy for the time that it took")
    }
    return remarks
  }

  /// The parents of each task. An edge counts once, whether the child names the parent, the parent names the child, or
  /// both, and however often.
  private static func parents(
    _ tasks: [SpecifiedTask], position: [String: Int], source: String
  ) throws -> [Set<Int>] {
    var parents = [Set<Int>](repeating: [], count: tasks.count)
    let names = Set(tasks.compactMap(\.name))
    func hint(_ name: String) -> String {
      names.contains(name)
        ? ": it is the 'name' of a task, and WfFormat \(WfFormatVersion.read) names parents and children by 'id'" : ""
    }
    for (index, task) in tasks.enumerated() {
      for name in task.parents ?? [] {
        guard let parent = position[name] else {
          throw Complaint(
            .badInput, "\(source): task '\(task.id)' names parent '\(name)', which is no id of a task\(hint(name))")
        }
        parents[index].insert(parent)
      }
      for name in task.children ?? [] {
        guard let child = position[name] else {
          throw Complaint(
            .badInput, "\(source): task '\(task.id)' names child '\(name)', which is no id of a task\(hint(name))")
        }
        parents[child].insert(index)
      }
    }
    return parents
  }

  private static func runtimes(
    _ tasks: [ExecutedTask], known: [String: Int], source: String
  ) throws -> [String: Double] {
    var runtimes: [String: Double] = [:]
    for task in tasks {
      guard known[task.id] != nil else {
        throw Complaint(
          .badInput, "\(source): task '\(task.id)' has a runtime but is not in workflow.specification.tasks")
      }
      guard task.runtimeInSeconds >= 0, task.runtimeInSeconds.isFinite else {
        throw Complaint(.badInput, "\(source): task '\(task.id)' has the runtime \(task.runtimeInSeconds)")
      }
      guard runtimes.updateValue(task.runtimeInSeconds, forKey: task.id) == nil else {
        throw Complaint(.badInput, "\(source): task '\(task.id)' has two runtimes")
      }
    }
    return runtimes
  }

  private static func decode(_ data: Data, source: String) throws -> Body {
    guard data.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
      throw Complaint(.badInput, "\(source) is empty; a replay reads a WfFormat \(WfFormatVersion.read) workflow")
    }
    do {
      return try JSONDecoder().decode(Document.self, from: data).workflow
    } catch let error as DecodingError {
      if let (word, line) = noNumber(data) {
        throw Complaint(
          .badInput, "\(source), line \(line): \(word) is no number in JSON; a runtime is a number of seconds from 0")
      }
      if let other = WfFormatVersion(data), other.name != WfFormatVersion.read {
        throw Complaint(
          .badInput,
          "\(source): this is WfFormat \(other.name), and a replay reads WfFormat \(WfFormatVersion.read): "
            + "workflow.specification.tasks with the graph, workflow.execution.tasks with the runtimes")
      }
      throw Complaint(.badInput, "\(source): not a WfFormat \(WfFormatVersion.read) workflow: \(reason(error))")
    } catch {
      throw Complaint(.badInput, "\(source): not a WfFormat \(WfFormatVersion.read) workflow: it is not JSON")
    }
  }

  /// The first word that some programs write in the place of a number, and its line; nil when there is none.
  private static func noNumber(_ data: Data) -> (word: String, line: Int)? {
    let words = ["NaN", "Infinity"].map { (text: $0, bytes: Array($0.utf8)) }
    let bytes = Array(data)
    var line = 1
    var isQuoted = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\n") { line += 1 }
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted {
        if byte == UInt8(ascii: "\\") { index += 1 }
      } else if let word = words.first(where: { bytes[index...].starts(with: $0.bytes) }) {
        return (word.text, line)
      }
      index += 1
    }
    return nil
  }

  private static func reason(_ error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty
        ? "the top level"
        : path.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined().drop { $0 == "." } + ""
    }
    return switch error {
    case .keyNotFound(let key, let context): "'\(key.stringValue)' is missing in \(place(context.codingPath))"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      "\(place(context.codingPath)) is not of type \(type)"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty ? "it is not JSON" : "\(place(context.codingPath)) cannot be read"
    @unknown default: "it cannot be decoded"
    }
  }
}
