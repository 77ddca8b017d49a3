import FoundationEssentials
import HarnessMeasuring
import HarnessResults
import HarnessWords
import VirtualScheduling

extension CostModel {
  /// A parameter of the model.
  package struct Parameter: Sendable {
    package let name: String
    package let summary: String
    let set: @Sendable (inout VirtualCosts, Int64) -> Void
  }

  /// All parameters, in the order of the tables.
  package static let parameters: [Parameter] = [
    Parameter(name: "operation", summary: "a worker begins and ends an operation") { $0.operation = $1 },
    Parameter(name: "edge", summary: "the end of an operation resolves a dependency") { $0.edge = $1 },
    Parameter(name: "add", summary: "a worker adds a job to a list") { $0.add = $1 },
    Parameter(name: "take", summary: "a worker takes a job of its own") { $0.take = $1 },
    Parameter(name: "look", summary: "a look at another worker that gives no job") { $0.look = $1 },
    Parameter(name: "steal", summary: "a job is taken from a worker of the group, besides a line's way here") {
      $0.steal.sameGroup = $1
    },
    Parameter(name: "steal_other_group", summary: "the same from another group of the socket") {
      $0.steal.otherGroup = $1
    },
    Parameter(name: "steal_other_socket", summary: "the same from another socket") { $0.steal.otherSocket = $1 },
    Parameter(name: "move", summary: "each further job that is moved with a taken one") { $0.move = $1 },
    Parameter(name: "submit", summary: "a thread outside submits a job") { $0.submit = $1 },
    Parameter(name: "take_outside", summary: "a worker takes a job from outside") { $0.takeOutside = $1 },
    Parameter(name: "list", summary: "an access keeps others from a list, besides its lines' way here") {
      $0.list = $1
    },
    Parameter(name: "transfer", summary: "a cache line comes from another CPU of the group") {
      $0.transfer.sameGroup = $1
    },
    Parameter(name: "transfer_other_group", summary: "the same from another group of the socket") {
      $0.transfer.otherGroup = $1
    },
    Parameter(name: "transfer_other_socket", summary: "the same from another socket") { $0.transfer.otherSocket = $1 },
    Parameter(name: "glance", summary: "a look at a worker of the group whose list has changed since") {
      $0.glance.sameGroup = $1
    },
    Parameter(name: "glance_other_group", summary: "the same in another group of the socket") {
      $0.glance.otherGroup = $1
    },
    Parameter(name: "glance_other_socket", summary: "the same in another socket") { $0.glance.otherSocket = $1 },
    Parameter(name: "wake", summary: "to wake a thread, for the thread that wakes") { $0.wake = $1 },
    Parameter(name: "wake_latency", summary: "from a wake until the thread runs") { $0.wakeLatency = $1 },
    Parameter(name: "miss", summary: "a job runs on another CPU of the group than the one that made it ready") {
      $0.miss.sameGroup = $1
    },
    Parameter(name: "miss_other_group", summary: "the same in another group of the socket") { $0.miss.otherGroup = $1 },
    Parameter(name: "miss_other_socket", summary: "the same in another socket") { $0.miss.otherSocket = $1 },
    // How long one thread takes to add a task of a graph. It is no cost of a pool.
    Parameter(name: "adding", summary: "a thread adds a task with its dependencies to a queue") { _, _ in },
  ]

  /// The costs for the pool.
  package var costs: VirtualCosts {
    var costs = VirtualCosts()
    for parameter in Self.parameters { parameter.set(&costs, nanoseconds(parameter.name)) }
    return costs
  }

  /// How far the CPUs of the machine are from each other.
  package var topology: VirtualTopology {
    let socket = machine.socket ?? 1 << 32
    return VirtualTopology(workersPerGroup: machine.group ?? socket, workersPerSocket: socket)
  }

  /// How long a thread takes to add a task, in nanoseconds.
  package var adding: Int64 { nanoseconds("adding") }

  private func nanoseconds(_ name: String) -> Int64 { Int64((values[name]?.ns ?? 0).rounded()) }

  // MARK: - Files

  /// Reads a model. Throws one line that names the file and what is wrong.
  package static func read(path: String) throws -> CostModel {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Complaint(.noInput, "\(path): there is no such model file; opbench calibrate-model writes one")
    }
    guard !isFolder else { throw Complaint(.noInput, "\(path) is a folder, not a model file") }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Complaint(.noInput, "\(path): the model file cannot be read")
    }
    return try parse(data, source: path)
  }

  package static func parse(_ data: Data, source: String) throws -> CostModel {
    struct Form: Decodable { let schema: Int }
    guard let form = try? JSONDecoder().decode(Form.self, from: data) else {
      throw Complaint(.badInput, "\(source): this is no model; opbench calibrate-model writes one")
    }
    guard form.schema == currentSchema else {
      throw Complaint(
        .badInput,
        "\(source): the model has schema \(form.schema), and this opbench reads schema \(currentSchema); "
          + "opbench calibrate-model writes one")
    }
    let model: CostModel
    do {
      model = try JSONDecoder().decode(CostModel.self, from: data)
    } catch DecodingError.keyNotFound(let key, _) {
      throw Complaint(.badInput, "\(source): the model lacks '\(key.stringValue)'")
    } catch {
      throw Complaint(.badInput, "\(source): the model has a field of the wrong kind")
    }
    try model.check(source: source)
    return model
  }

  /// What is wrong with a text that tables and rows show; nil for a text that can be shown as it is.
  package static func mistake(inText text: String) -> String? {
    Printable.name(text) == text ? nil : "has a line break or another character that a terminal would obey"
  }

  private func check(source: String) throws {
    let texts = [
      ("name", name), ("machine.cpu", machine.cpu), ("machine.kernel", machine.kernel), ("date", date),
      ("commit", commit ?? ""),
    ]
    for (key, text) in texts + values.map({ ("values.\($0.key).from", $0.value.from) }).sorted(by: { $0 < $1 }) {
      if let what = Self.mistake(inText: text) {
        throw Complaint(.badInput, "\(source): '\(key)' of the model \(what)")
      }
    }
    for (key, count) in [("group", machine.group), ("socket", machine.socket)] {
      if let count, !(1...1_024 ~= count) {
        throw Complaint(.badInput, "\(source): 'machine.\(key)' is \(count); it is from 1 to 1024")
      }
    }
    if let group = machine.group, let socket = machine.socket, socket % group != 0 {
      throw Complaint(
        .badInput, "\(source): 'machine.socket' is \(socket): that is no whole number of groups of \(group) CPUs")
    }
    let names = Self.parameters.map(\.name)
    if let missing = names.first(where: { values[$0] == nil }) {
      throw Complaint(.badInput, "\(source): the model lacks the value '\(missing)'")
    }
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      let words = Suggestion.words(for: unknown, among: names)
      throw Complaint(.badInput, "\(source): there is no value '\(unknown)'\(words)")
    }
    for name in names {
      let ns = values[name]!.ns
      guard 0...1e9 ~= ns else {
        throw Complaint(.badInput, "\(source): \(name) is \(ns) ns; it is from 0 to a second")
      }
    }
  }

  /// The text of the file.
  package func json() throws -> String { try JSONFile.text(self) }
}
